import { growHeapInLargerSteps, runService } from '@truckroll/service-kit';
import { createBilling } from './billing.ts';
import { billingConfig } from './config.ts';

/** With steps as large as those of others, its resident memory still grew after twenty minutes of a third of their requests (loadtest/README.md, soak). */
const HEAP_GROWTH_PERCENT = 50;

growHeapInLargerSteps(HEAP_GROWTH_PERCENT);
await runService('billing', () => createBilling(billingConfig(process.env)));
