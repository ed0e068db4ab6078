import { topics } from '@truckroll/contract';
import type { Assignment } from '@truckroll/contract/gen/scheduling/v1/job_assignments';
import { recordReadModel } from './record-read-model.ts';

export const assignments = recordReadModel<Assignment>({
  topic: topics.assignments,
  path: 'job-assignments',
  table: 'assignments',
  part: 'jobs',
  jobColumn: 'job_id',
  columns: {
    job_id: { type: 'uuid', of: ({ job_id }) => job_id },
    team_member_id: { type: 'uuid', of: ({ team_member }) => team_member?.id ?? null },
    team_member_name: { type: 'text', of: ({ team_member }) => team_member?.name ?? '', followsNames: true },
  },
});
