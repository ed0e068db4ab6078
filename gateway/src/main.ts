import { growHeapInLargerSteps, runService } from '@truckroll/process';
import { createGateway } from './app.ts';
import { gatewayConfig } from './config.ts';

growHeapInLargerSteps();
await runService('gateway', () => createGateway({ config: gatewayConfig(process.env) }));
