import { growHeapInLargerSteps, runService } from '@truckroll/process';
import { schedulingConfig } from './config.ts';
import { createScheduling } from './scheduling.ts';

growHeapInLargerSteps();
await runService('scheduling', () => createScheduling(schedulingConfig(process.env)));
