import { resource } from '@truckroll/contract';
import type { Timesheet } from '@truckroll/contract/gen/scheduling/v1/timesheets';
import { defineTable } from '@truckroll/record-store';
import { deriveTimesheets } from '../timesheets/derive.ts';

export const timesheets = defineTable<Timesheet>({
  resource: resource('timesheets'),
  table: 'timesheets',
  columns: {
    team_member_id: 'team_member.id',
    status: 'status',
    period_start: 'period_start',
  },
  derive: deriveTimesheets,
});
