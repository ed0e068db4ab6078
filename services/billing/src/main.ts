import { growHeapInLargerSteps, runService } from '@truckroll/process';
import { createBilling } from './billing.ts';
import { billingConfig } from './config.ts';

/** With the other services' larger steps, memory still grew after 20 minutes at a third of their request rate (`load -- soak`). */
const HEAP_GROWTH_PERCENT = 50;

growHeapInLargerSteps(HEAP_GROWTH_PERCENT);
await runService('billing', () => createBilling(billingConfig(process.env)));
