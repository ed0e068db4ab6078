import { resource, topics } from '@truckroll/contract';
import type { Assignment } from '@truckroll/contract/gen/scheduling/v1/job_assignments';
import { defineTable } from '@truckroll/record-store';
import { deriveAssignments } from '../visits/derive-assignments.ts';
import { lockVisitsOfAssignments } from '../visits/locks.ts';

export const jobAssignments = defineTable<Assignment>({
  resource: resource('job-assignments'),
  table: 'job_assignments',
  version: 2,
  columns: {
    job_id: 'job_id',
    appointment_id: 'appointment_id',
    team_member_id: 'team_member.id',
    status: 'status',
    starts_at: 'starts_at',
  },
  lockFirst: lockVisitsOfAssignments,
  remembers: ['appointment_id'],
  derive: deriveAssignments,
  publishes: { topic: topics.assignments, type: 'assignment.changed' },
});
