import { growHeapInLargerSteps, runService } from '@truckroll/service-kit';
import { createReporting } from './reporting.ts';
import { reportingConfig } from './config.ts';

growHeapInLargerSteps();
await runService('reporting', () => createReporting(reportingConfig(process.env)));
