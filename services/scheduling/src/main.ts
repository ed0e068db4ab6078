import { growHeapInLargerSteps, runService } from '@truckroll/service-kit';
import { schedulingConfig } from './config.ts';
import { createScheduling } from './scheduling.ts';

growHeapInLargerSteps();
await runService('scheduling', () => createScheduling(schedulingConfig(process.env)));
