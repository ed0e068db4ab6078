import { resource } from '@truckroll/contract';
import type { TimeEntry } from '@truckroll/contract/gen/scheduling/v1/time_entries';
import { defineTable } from '@truckroll/record-store';
import { checkTimeEntry, deriveTimeEntries } from '../timesheets/derive.ts';

export const timeEntries = defineTable<TimeEntry>({
  resource: resource('time-entries'),
  table: 'time_entries',
  version: 2,
  columns: {
    team_member_id: 'team_member.id',
    timesheet_id: 'timesheet_id',
    job_id: 'job_id',
    appointment_id: 'appointment_id',
    activity: 'activity',
    starts_at: 'starts_at',
    duration_minutes: 'duration_minutes',
    paid: 'paid',
  },
  check: checkTimeEntry,
  leadsTo: ({ timesheet_id }, id) => (timesheet_id === id ? 'duration_minutes' : undefined),
  remembers: ['timesheet_id'],
  derive: deriveTimeEntries,
});
