import { resource } from '@truckroll/contract';
import type { JobLifecycle } from '@truckroll/contract/gen/scheduling/v1/job_lifecycles';
import { defineTable, inTurn } from '@truckroll/record-store';
import { afterLifecycles } from '../consequences.ts';
import { named } from '../events.ts';

export const jobLifecycles = defineTable<JobLifecycle>({
  resource: resource('job-lifecycles'),
  table: 'job_lifecycles',
  columns: {
    type: 'type',
    archived: 'archived',
  },
  // Most changes concern few of the statuses: src/jobs/status.ts.
  remembers: ['document'],
  afterChange: inTurn(named('job-lifecycles'), afterLifecycles),
});
