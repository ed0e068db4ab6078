import { randomUUID } from 'node:crypto';
import { formatInstant, parseInstant } from '@truckroll/contract';

export type Line = Record<string, any>;

const AT = '2026-03-01T15:00:00Z';
const stamps = { created_at: AT, updated_at: AT };
export const ref = (id: string = randomUUID(), name = 'as the line says'): Line => ({ id, name });

export function account(fields: Line = {}): Line {
  return {
    id: randomUUID(),
    name: 'Whitfield Residence',
    type: 'RESIDENTIAL',
    archived: false,
    tags: [],
    do_not_service: false,
    notifications_enabled: true,
    ...stamps,
    ...fields,
  };
}

export function location(fields: Line = {}): Line {
  const address = {
    id: randomUUID(),
    formatted: '1100 Congress Ave, Austin, TX 78701',
    line_1: '1100 Congress Ave',
    line_2: null,
    city: 'Austin',
    state: 'TX',
    postal_code: '78701',
  };
  return {
    id: randomUUID(),
    name: 'Whitfield home',
    address,
    latitude: 30.2747,
    longitude: -97.7404,
    property_type: 'Single family',
    municipality: 'City of Austin',
    estimated_square_footage: 2150,
    accounts: [],
    created_by: ref(),
    ...stamps,
    ...fields,
  };
}

export function lifecycle(statuses: Line[], fields: Line = {}): Line {
  return { id: randomUUID(), name: 'Service', description: '', type: 'JOB', archived: false, statuses, ...stamps, ...fields };
}

export function lifecycleStatus(fields: Line = {}): Line {
  return {
    id: randomUUID(),
    name: 'Scheduled',
    description: '',
    stage: 'SCHEDULED',
    special_status: null,
    is_default: false,
    is_work_complete: false,
    is_lead_won: false,
    ...fields,
  };
}

export function job(fields: Line = {}): Line {
  return {
    id: randomUUID(),
    number: 'J-1',
    summary: 'AC not cooling',
    account: ref(),
    location_id: randomUUID(),
    lifecycle: ref(),
    status: { id: randomUUID(), name: 'from the line', stage: 'NEW', is_work_complete: false },
    priority: 'NORMAL',
    tags: [],
    ...stamps,
    ...fields,
  };
}

export function visit(fields: Line = {}): Line {
  const { job_id = randomUUID(), starts_at = '2026-03-02T15:00:00Z' } = fields;
  const ends_at = formatInstant((parseInstant(starts_at) as number) + 3_600_000_000);
  return {
    id: randomUUID(),
    number: 'J-1-1',
    job_id,
    type: 'Diagnostic',
    description: '',
    window_start_at: '2026-03-02T14:00:00Z',
    window_end_at: '2026-03-02T18:00:00Z',
    confirmed: false,
    canceled: false,
    cancellation_reason: null,
    cancellation_note: null,
    created_by: ref(),
    kind: 'APPOINTMENT',
    starts_at,
    ends_at,
    ...stamps,
    job: {
      id: job_id,
      number: 'from the line',
      summary: null,
      account: ref(),
      contact: null,
      business_unit: null,
      job_type: null,
      job_class: null,
      location: { id: randomUUID(), name: 'from the line', address: 'from the line', latitude: null, longitude: null },
    },
    ...fields,
  };
}

export function assignment(fields: Line = {}): Line {
  return {
    id: randomUUID(),
    job_id: randomUUID(),
    appointment_id: randomUUID(),
    team_member: ref(),
    starts_at: '2026-03-02T15:00:00Z',
    ends_at: '2026-03-02T16:00:00Z',
    status: 'TO_DO',
    status_updated_at: AT,
    created_at: AT,
    updated_at: null,
    ...fields,
  };
}

export function timesheet(fields: Line = {}): Line {
  return { id: randomUUID(), team_member: ref(), period_start: '2026-03-02', period_end: '2026-03-09', status: 'OPEN', ...stamps, ...fields };
}

export function timeEntry(fields: Line = {}): Line {
  const { starts_at = '2026-03-02T15:00:00Z', ends_at = null } = fields;
  return {
    id: randomUUID(),
    team_member: ref(),
    timesheet_id: null,
    activity: 'WORK',
    source: 'CLOCK',
    starts_at,
    ends_at,
    duration_minutes: ends_at === null ? null : Math.max(0, Math.floor((Date.parse(ends_at) - Date.parse(starts_at)) / 60_000)),
    paid: true,
    ...stamps,
    ...fields,
  };
}

export function formResponse(fields: Line = {}): Line {
  return {
    id: randomUUID(),
    form_id: randomUUID(),
    name: 'Checklist',
    instance_number: 1,
    label: 'A',
    ad_hoc: false,
    appointment_id: randomUUID(),
    job_id: randomUUID(),
    account_id: randomUUID(),
    location_id: randomUUID(),
    last_edited_by: ref(),
    completed: null,
    questions: null,
    ...stamps,
    ...fields,
  };
}

export function equipment(fields: Line = {}): Line {
  return { id: randomUUID(), name: 'Heat pump', status: 'ACTIVE', location_id: randomUUID(), ...stamps, ...fields };
}

export function teamMember(fields: Line = {}): Line {
  return {
    id: randomUUID(),
    name: 'Dana Whitfield',
    first_name: 'Dana',
    last_name: 'Whitfield',
    role: 'TECHNICIAN',
    status: 'ACTIVE',
    assignable: true,
    tags: [],
    ...stamps,
    ...fields,
  };
}
