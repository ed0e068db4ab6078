import { growHeapInLargerSteps, runService } from '@truckroll/service-kit';
import { createGateway } from './app.ts';
import { gatewayConfig } from './config.ts';

growHeapInLargerSteps();
await runService('gateway', () => createGateway({ config: gatewayConfig(process.env) }));
