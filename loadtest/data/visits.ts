// A company with visits to staff. Ids are a number behind a prefix.
import type { DemoFile } from '@truckroll/demo-company';

export const VISITS = 10_000;
export const TECHNICIANS = 50;

const PREFIX = { job: '20000000', visit: '10000000', technician: '40000000' };
const AT = '2026-03-01T15:00:00Z';
const DAY_MS = 86_400_000;

type Numbered = keyof typeof PREFIX;

export function idOf(kind: Numbered, number: number): string {
  return `${PREFIX[kind]}-0000-0000-0000-${String(number).padStart(12, '0')}`;
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);
const reference = (name: string): object => ({ id: idOf('technician', 1), name });

export function visitFiles(): DemoFile[] {
  const stamped = (number: number): object => {
    const at = new Date(Date.parse(AT) + number * (DAY_MS / 1000)).toISOString().replace('.000', '');
    return { created_at: at, updated_at: at };
  };
  const job = (number: number): object => ({
    id: idOf('job', number),
    number: `J-${number}`,
    summary: 'AC not cooling upstairs',
    account: reference('Whitfield Residence'),
    location_id: idOf('job', 1),
    contact: reference('Dana Whitfield'),
    business_unit: reference('HVAC North'),
    job_type: reference('Diagnostic'),
    job_class: 'SERVICE',
    lifecycle: reference('Service'),
    status: { id: idOf('job', 1), name: 'Scheduled', stage: 'SCHEDULED', is_work_complete: false },
    priority: 'NORMAL',
    lead_source: null,
    tags: [],
    sold_by: null,
    created_by: reference('Ada Ortiz'),
    ...stamped(number),
  });
  const visit = (number: number): object => ({
    id: idOf('visit', number),
    number: `J-${number}-1`,
    job_id: idOf('job', number),
    type: 'Diagnostic',
    description: 'Check the upstairs air handler',
    window_start_at: '2026-03-02T14:00:00Z',
    window_end_at: '2026-03-02T18:00:00Z',
    confirmed: true,
    canceled: false,
    cancellation_reason: null,
    cancellation_note: null,
    created_by: reference('Ada Ortiz'),
    kind: 'APPOINTMENT',
    starts_at: '2026-03-02T15:00:00Z',
    ends_at: '2026-03-02T16:00:00Z',
    ...stamped(number),
  });
  const technician = (number: number): object => ({
    id: idOf('technician', number),
    name: `Technician ${number}`,
    first_name: 'Technician',
    last_name: String(number),
    role: 'TECHNICIAN',
    status: 'ACTIVE',
    assignable: true,
    tags: [],
    ...stamped(number),
  });
  return [
    { path: 'team-members', records: numbers(TECHNICIANS).map(technician) },
    { path: 'jobs', records: numbers(VISITS).map(job) },
    { path: 'job-appointments', records: numbers(VISITS).map(visit) },
  ] as unknown as DemoFile[];
}
