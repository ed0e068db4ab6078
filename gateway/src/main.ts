import { runService } from '@truckroll/service-kit';
import { createGateway } from './app.ts';
import { gatewayConfig } from './config.ts';

await runService('gateway', () => createGateway({ config: gatewayConfig(process.env) }));
