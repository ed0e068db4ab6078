import { growHeapInLargerSteps, runService } from '@truckroll/process';
import { createReporting } from './reporting.ts';
import { reportingConfig } from './config.ts';

growHeapInLargerSteps();
await runService('reporting', () => createReporting(reportingConfig(process.env)));
