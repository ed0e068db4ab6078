// Derived fields of every record, computed from imported lines alone (api.md; decisions §1, §2 and §12). Uses no product code.
import type { Json } from '../support/expected.ts';
import { localDate, millis } from '../reports/oracle/dates.ts';

export interface World {
  timezone: string;
  lines: Record<string, Map<string, Json>>;
}

/** The fields of a record that an import ignores and a read computes. `at` is the time of the read, in ms since 1970. */
export function derivedOf(path: string, line: Json, world: World, at: number): Json {
  return RULES[path]?.(line, world, at) ?? {};
}

export const DERIVED_PATHS = [
  'invoices',
  'refunds',
  'jobs',
  'job-leads',
  'job-appointments',
  'job-assignments',
  'time-entries',
  'timesheets',
  'job-financials',
] as const;

const RULES: Record<string, (line: Json, world: World, at: number) => Json> = {
  invoices: (line, world, at) => invoiceFields(line, world, at),
  refunds(line, world) {
    const payment = world.lines['payments']?.get(line['payment_id']);
    if (payment === undefined) return {};
    const { account, collected_by } = payment;
    return {
      account: named('accounts', account, world),
      payment_method: payment['method'],
      collected_by: named('team-members', collected_by, world),
    };
  },
  jobs(line, world) {
    const starts = of('job-appointments', world)
      .filter(({ job_id, canceled }) => job_id === line['id'] && !canceled)
      .map(({ starts_at }) => starts_at as string)
      .sort(byInstant);
    return { appointment_count: starts.length, first_starts_at: starts[0] ?? null, status: statusOf(line, world, 'is_work_complete') };
  },
  'job-leads': (line, world) => ({ status: statusOf(line, world, 'is_lead_won') }),
  'job-appointments': (line, world) => visitFields(line, world),
  'job-assignments': ({ appointment_id, job_id }, world) => ({ job_id: world.lines['job-appointments']?.get(appointment_id)?.['job_id'] ?? job_id }),
  'time-entries': ({ ends_at, duration_minutes }) => ({ duration_minutes: ends_at === null ? null : duration_minutes }),
  timesheets(line, world) {
    const entries = of('time-entries', world).filter(({ timesheet_id }) => timesheet_id === line['id']);
    const minutes = (some: Json[]): number => some.reduce((sum, { duration_minutes }) => sum + (duration_minutes ?? 0), 0);
    return { entry_count: entries.length, total_minutes: minutes(entries), paid_minutes: minutes(entries.filter(({ paid }) => paid)) };
  },
  'job-financials': (line, world) => financialFields(line, world),
};

function invoiceFields(line: Json, world: World, at: number): Json {
  const applications = of('payments', world)
    .toSorted((a, b) => byInstant(a['created_at'], b['created_at']) || (a['id'] < b['id'] ? -1 : 1))
    .flatMap(({ id, status, invoice_allocations }) =>
      (invoice_allocations as Json[])
        .filter(({ invoice_id }) => invoice_id === line['id'])
        .map(({ applied_cents }) => ({ payment_id: id, applied_cents, payment_status: status })),
    );
  const sum = (...statuses: string[]): bigint =>
    applications.filter(({ payment_status }) => statuses.includes(payment_status)).reduce((cents, { applied_cents }) => cents + BigInt(applied_cents), 0n);
  const paid = sum('PAID');
  const processing = sum('PENDING', 'PROCESSING');
  const open = line['status'] === 'OPEN';
  return {
    amounts: {
      ...line['amounts'],
      paid_cents: Number(paid),
      processing_cents: Number(processing),
      open_balance_cents: open ? Number(BigInt(line['amounts'].total_cents) - paid - processing) : 0,
    },
    payment_applications: applications,
    aging: open ? agingOf(line['due_at'], world.timezone, at) : null,
  };
}

/** Counts calendar days in the company's zone: a day of 23 or 25 hours is one day. */
export function agingOf(dueAt: string | null, timezone: string, at: number): Json {
  if (dueAt === null) return { days_past_due: null, bucket: 'CURRENT' };
  const dayOf = (instant: string): number => Date.parse(`${localDate(instant, timezone)}T00:00:00Z`) / 86_400_000;
  const days = dayOf(new Date(at).toISOString()) - dayOf(dueAt);
  if (days <= 0) return { days_past_due: days, bucket: 'CURRENT' };
  if (days <= 30) return { days_past_due: days, bucket: 'PAST_DUE_1_30' };
  if (days <= 60) return { days_past_due: days, bucket: 'PAST_DUE_31_60' };
  if (days <= 90) return { days_past_due: days, bucket: 'PAST_DUE_61_90' };
  return { days_past_due: days, bucket: 'PAST_DUE_91_PLUS' };
}

function visitFields(line: Json, world: World): Json {
  const job = world.lines['jobs']?.get(line['job_id']) as Json;
  const location = world.lines['locations']?.get(job['location_id']) as Json;
  const assignments = of('job-assignments', world)
    .filter(({ appointment_id }) => appointment_id === line['id'])
    .toSorted((a, b) => byInstant(a['starts_at'], b['starts_at']) || (a['id'] < b['id'] ? -1 : 1))
    .map((assignment) => ({ ...assignment, job_id: line['job_id'], team_member: named('team-members', assignment['team_member'], world) }));
  const { id, number, summary, account, contact, business_unit, job_type, job_class } = job;
  return {
    dispatch_status: dispatchStatus(
      line['canceled'],
      assignments.map(({ status }: Json) => status),
    ),
    assignments,
    job: {
      id,
      number,
      summary,
      account: named('accounts', account, world),
      contact: named('contacts', contact, world),
      business_unit: named('business-units', business_unit, world),
      job_type: named('job-types', job_type, world),
      job_class,
      location: {
        id: location['id'],
        name: location['name'],
        address: location['address'].formatted,
        latitude: location['latitude'],
        longitude: location['longitude'],
      },
    },
  };
}

function dispatchStatus(canceled: boolean, all: string[]): string {
  const statuses = all.filter((status) => status !== 'CANCELED');
  const has = (...some: string[]): boolean => statuses.some((status) => some.includes(status));
  if (canceled) return 'CANCELED';
  if (statuses.length === 0) return 'UNASSIGNED';
  if (statuses.every((status) => status === 'COMPLETED')) return 'COMPLETED';
  if (has('IN_PROGRESS', 'PAUSED')) return 'IN_PROGRESS';
  return has('EN_ROUTE', 'COMPLETED') ? 'DISPATCHED' : 'ASSIGNED';
}

function statusOf({ status, lifecycle }: Json, world: World, flag: string): Json {
  const latest = world.lines['job-lifecycles']?.get(lifecycle.id)?.['statuses'].find(({ id }: Json) => id === status.id) ?? status;
  return { id: status.id, name: latest.name, stage: latest.stage, [flag]: latest[flag] };
}

const CATEGORIES = ['labor', 'parts', 'equipment', 'misc', 'other'] as const;

function financialFields(line: Json, world: World): Json {
  const job = world.lines['jobs']?.get(line['id']) as Json;
  const visits = of('job-appointments', world).filter(({ job_id }) => job_id === job['id']);
  const members = new Map<string, Json>();
  for (const { appointment_id, team_member } of of('job-assignments', world)) {
    if (visits.some(({ id }) => id === appointment_id)) members.set(team_member.id, named('team-members', team_member, world) as Json);
  }
  const invoices = of('invoices', world)
    .filter(({ job_id }) => job_id === job['id'])
    .toSorted((a, b) => nullsLast(a['issued_at'], b['issued_at']) || byInstant(a['created_at'], b['created_at']) || (a['id'] < b['id'] ? -1 : 1));
  const counted = invoices.filter(({ status }) => status === 'OPEN' || status === 'PAID');
  const issued = counted.find(({ issued_at }) => issued_at !== null)?.['issued_at'];
  const [moment, basis] =
    issued !== undefined
      ? [issued, 'INVOICE_ISSUED']
      : job['completed_at'] !== null
        ? [job['completed_at'], 'JOB_COMPLETED']
        : [job['created_at'], 'JOB_CREATED'];
  const revenue = counted.reduce((cents, { amounts }) => cents + amounts.subtotal_cents, 0);
  const cost = (category: string): number =>
    (line['cost_entries'] as Json[]).filter((entry) => entry['category'] === category).reduce((cents, { total_cents }) => cents + total_cents, 0);
  const costs = CATEGORIES.map((category) => [`${category}_cost_cents`, cost(category)] as const);
  const total = costs.reduce((cents, [, of]) => cents + of, 0);
  return {
    number: job['number'],
    account: named('accounts', job['account'], world),
    location_id: job['location_id'],
    business_unit: named('business-units', job['business_unit'], world),
    job_type: named('job-types', job['job_type'], world),
    job_class: job['job_class'],
    created_at: job['created_at'],
    participants: [...members].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, member]) => member),
    report_date: localDate(moment, world.timezone),
    report_date_basis: basis,
    costing: { ...line['costing'], enabled: true },
    totals: {
      revenue_cents: revenue,
      ...Object.fromEntries(costs),
      total_cost_cents: total,
      gross_profit_cents: revenue - total,
      // Math.round rounds halves toward positive infinity, like the specification.
      gross_margin: revenue === 0 ? 0 : Math.round(((revenue - total) * 10_000) / revenue) / 10_000 + 0,
    },
    invoices: invoices.map(({ id, number, status, issued_at, amounts }) => ({ id, number, status, issued_at, subtotal_cents: amounts.subtotal_cents })),
  };
}

function of(path: string, { lines }: World): Json[] {
  return [...(lines[path]?.values() ?? [])];
}

/** A reference with the current name of its record, or the line's name if the record is not known. */
function named(path: string, reference: Json | null, { lines }: World): Json | null {
  return reference === null ? null : { id: reference['id'], name: lines[path]?.get(reference['id'])?.['name'] ?? reference['name'] };
}

/** Compares microseconds: pads the fraction so that text sorts by time. */
function byInstant(a: string, b: string): number {
  const micros = (instant: string): string =>
    instant
      .replace('Z', '')
      .replace(/^([^.]*)$/, '$1.')
      .padEnd(26, '0');
  return millis(a) - millis(b) || (micros(a) < micros(b) ? -1 : micros(a) > micros(b) ? 1 : 0);
}

function nullsLast(a: string | null, b: string | null): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return byInstant(a, b);
}
