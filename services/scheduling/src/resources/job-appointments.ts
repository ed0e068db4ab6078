import { resource } from '@truckroll/contract';
import type { Visit } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import { NUMBER, defineTable } from '@truckroll/record-store';
import { keeping, refreshVisitTeams } from './links.ts';
import { checkVisit } from '../visits/check.ts';
import { deriveVisits } from '../visits/derive.ts';

export const jobAppointments = defineTable<Visit>({
  resource: resource('job-appointments'),
  table: 'job_appointments',
  version: 3,
  since: { search: 3, number: 3 },
  columns: {
    number: NUMBER,
    job_id: 'job_id',
    job_account_id: { type: 'uuid', of: ({ job }) => job?.account?.id ?? null },
    job_location_id: { type: 'uuid', of: ({ job }) => job?.location?.id ?? null },
    job_business_unit_id: { type: 'uuid', of: ({ job }) => job?.business_unit?.id ?? null },
    job_job_type_id: { type: 'uuid', of: ({ job }) => job?.job_type?.id ?? null },
    dispatch_status: 'dispatch_status',
    confirmed: 'confirmed',
    canceled: 'canceled',
    starts_at: 'starts_at',
  },
  links: { team_member_id: { table: 'job_appointment_team_members', maintained: keeping(refreshVisitTeams) } },
  search: { table: 'job_appointment_entries', of: ({ number, description }) => ({ texts: [number, description] }) },
  check: checkVisit,
  remembers: ['job_id'],
  derive: deriveVisits,
});
