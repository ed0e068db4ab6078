import { resource, topics } from '@truckroll/contract';
import type { Job } from '@truckroll/contract/gen/scheduling/v1/jobs';
import { NUMBER, defineTable } from '@truckroll/record-store';
import { deriveJobs } from '../jobs/derive.ts';
import { keeping, refreshJobTeams } from './links.ts';
import { lockVisitsOfJobs } from '../visits/locks.ts';

export const jobs = defineTable<Job>({
  resource: resource('jobs'),
  table: 'jobs',
  version: 2,
  since: { search: 2, number: 2 },
  columns: {
    number: NUMBER,
    account_id: 'account.id',
    location_id: 'location_id',
    business_unit_id: 'business_unit.id',
    job_type_id: 'job_type.id',
    job_class: 'job_class',
    lifecycle_id: 'lifecycle.id',
    status_id: 'status.id',
    status_stage: 'status.stage',
    first_starts_at: 'first_starts_at',
    completed_at: 'completed_at',
  },
  links: {
    tag_id: { table: 'job_tags', of: ({ tags }) => tags.map(({ id }) => id) },
    team_member_id: { table: 'job_team_members', maintained: keeping(refreshJobTeams) },
  },
  search: { table: 'job_entries', of: ({ number, summary }) => ({ texts: [number, summary] }) },
  lockFirst: lockVisitsOfJobs,
  derive: deriveJobs,
  publishes: { topic: topics.jobs, type: 'job.changed' },
});
