import { resource } from '@truckroll/contract';
import type { JobLifecycle } from '@truckroll/contract/gen/scheduling/v1/job_lifecycles';
import { defineTable } from '@truckroll/record-store';
import { named } from '../names/named.ts';

export const jobLifecycles = defineTable<JobLifecycle>({
  resource: resource('job-lifecycles'),
  table: 'job_lifecycles',
  columns: {
    type: 'type',
    archived: 'archived',
  },
  // Most changes affect few of the statuses: src/jobs/status.ts.
  remembers: ['document'],
  afterChange: named('job-lifecycles'),
});
