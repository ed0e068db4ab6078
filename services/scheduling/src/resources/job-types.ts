import { resource } from '@truckroll/contract';
import type { JobType } from '@truckroll/contract/gen/scheduling/v1/job_types';
import { defineTable } from '@truckroll/record-store';
import { named } from '../names/named.ts';

export const jobTypes = defineTable<JobType>({
  resource: resource('job-types'),
  table: 'job_types',
  columns: {
    archived: { type: 'boolean', of: ({ archived_at }) => archived_at != null },
    job_class: 'job_class',
    lifecycle_id: 'lifecycle.id',
  },
  afterChange: named('job-types'),
});
