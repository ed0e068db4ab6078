import { growHeapInLargerSteps, runService } from '@truckroll/service-kit';
import { createBilling } from './billing.ts';
import { billingConfig } from './config.ts';

/** With a third of the requests of others, steps as large as theirs would take longer than twenty minutes under usual load. */
const HEAP_GROWTH_PERCENT = 50;

growHeapInLargerSteps(HEAP_GROWTH_PERCENT);
await runService('billing', () => createBilling(billingConfig(process.env)));
