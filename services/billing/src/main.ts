import { growHeapInLargerSteps, runService } from '@truckroll/service-kit';
import { createBilling } from './billing.ts';
import { billingConfig } from './config.ts';

growHeapInLargerSteps();
await runService('billing', () => createBilling(billingConfig(process.env)));
