import fc from 'fast-check';
import type { Json } from '../support/expected.ts';
import type { World } from './oracle.ts';

const PAYMENT_STATUSES = ['SUBMITTING', 'PENDING', 'PAID', 'FAILED', 'CANCELED', 'PROCESSING', null] as const;
const INVOICE_STATUSES = ['DRAFT', 'OPEN', 'OPEN', 'PAID', 'VOIDED', 'UNCOLLECTABLE'] as const;
const ASSIGNMENT_STATUSES = ['TO_DO', 'EN_ROUTE', 'IN_PROGRESS', 'PAUSED', 'COMPLETED', 'CANCELED'] as const;
const STAGES = ['NEW', 'SCHEDULED', 'IN_PROGRESS', 'ON_HOLD', 'COMPLETED'] as const;
const HOUR_MS = 3_600_000;
/** Corrected lines per kind, so that a round takes about a second. */
const MOST_LINES = 60;

export type Corrections = [path: string, lines: Json[]][];

/** In any order of paths, because derived fields must not depend on what arrives first. */
export function corrections(world: World): fc.Arbitrary<Corrections> {
  const some = (path: string, change: (line: Json) => fc.Arbitrary<Json>): fc.Arbitrary<[string, Json[]]> =>
    fc
      .shuffledSubarray([...(world.lines[path]?.values() ?? [])])
      .map((lines) => lines.slice(0, MOST_LINES))
      .chain((lines) => fc.tuple(...lines.map(change)))
      .map((lines) => [path, lines]);
  const one = (path: string): fc.Arbitrary<string> => fc.constantFrom(...(world.lines[path]?.keys() ?? []));
  const cents = fc.oneof({ weight: 5, arbitrary: fc.integer({ min: -5_000, max: 90_000 }) }, { weight: 1, arbitrary: fc.integer({ min: 0, max: 2 ** 44 }) });
  const changes = [
    some('payments', (line) =>
      fc
        .record({
          status: fc.constantFrom(...PAYMENT_STATUSES),
          invoice_allocations: fc.uniqueArray(fc.record({ invoice_id: one('invoices'), applied_cents: cents }), {
            maxLength: 4,
            selector: ({ invoice_id }) => invoice_id,
          }),
        })
        .map((changed) => ({ ...line, ...changed })),
    ),
    some('invoices', (line) =>
      fc
        .record({ status: fc.constantFrom(...INVOICE_STATUSES), job_id: fc.option(one('jobs'), { freq: 8 }), issued_at: fc.option(instant(), { freq: 5 }) })
        .map((changed) => ({ ...line, ...changed })),
    ),
    some('refunds', (line) => one('payments').map((payment_id) => ({ ...line, payment_id }))),
    some('job-appointments', (line) =>
      fc.record({ canceled: fc.boolean(), hours: fc.integer({ min: -300, max: 300 }), job_id: one('jobs') }).map(({ canceled, hours, job_id }) => {
        const [starts_at, ends_at] = [later(line['starts_at'], hours), later(line['ends_at'], hours)];
        const reason = canceled ? 'WEATHER' : null;
        return { ...line, canceled, cancellation_reason: reason, cancellation_note: null, job_id, starts_at, ends_at };
      }),
    ),
    some('job-assignments', (line) =>
      fc.record({ status: fc.constantFrom(...ASSIGNMENT_STATUSES), hours: fc.integer({ min: -1, max: 1 }) }).map(({ status, hours }) => ({
        ...line,
        status,
        starts_at: later(line['starts_at'], hours),
        ends_at: later(line['ends_at'], hours),
      })),
    ),
    some('time-entries', (line) =>
      fc
        .record({ duration: fc.integer({ min: 0, max: 900 }), running: fc.boolean(), paid: fc.boolean(), timesheet_id: fc.option(one('timesheets')) })
        .map(({ duration, running, paid, timesheet_id }) => ({
          ...line,
          paid,
          timesheet_id,
          ends_at: running ? null : later(line['starts_at'], 9),
          duration_minutes: running ? null : duration,
        })),
    ),
    some('jobs', (line) => fc.record({ completed_at: fc.option(instant()), created_at: instant() }).map((changed) => ({ ...line, ...changed }))),
    some('job-lifecycles', (line) =>
      fc.record({ word: fc.stringMatching(/^[a-z]{3,9}$/), stage: fc.constantFrom(...STAGES), flag: fc.boolean() }).map(({ word, stage, flag }) => ({
        ...line,
        statuses: (line['statuses'] as Json[]).map((status, n) =>
          n % 2 === 0 ? status : { ...status, name: `${word} ${n}`, stage, is_work_complete: flag, is_lead_won: flag },
        ),
      })),
    ),
    ...['accounts', 'team-members', 'business-units', 'job-types', 'contacts', 'locations'].map((path) =>
      some(path, (line) => fc.stringMatching(/^[A-Z][a-z]{3,9}$/).map((word) => ({ ...line, name: `${word} ${line['name']}`.slice(0, 60) }))),
    ),
    some('job-financials', (line) =>
      fc
        .array(fc.tuple(fc.uuid(), fc.constantFrom('labor', 'parts', 'equipment', 'misc', 'other'), cents), { maxLength: 5 })
        .map((costs) => ({ ...line, cost_entries: costs.map(([id, category, total]) => costOf(line, id, category, total)) })),
    ),
  ];
  return fc.tuple(...changes).chain((all) => fc.shuffledSubarray(all, { minLength: all.length }));
}

function costOf(line: Json, id: string, category: string, total: number): Json {
  return {
    id,
    category,
    source: 'manual',
    name: 'Correction',
    quantity: 1,
    quantity_unit: 'unit',
    unit_cost_cents: total,
    total_cents: total,
    labor_activity: null,
    misc_category: null,
    pricebook_item_id: null,
    created_at: line['created_at'],
    updated_at: line['created_at'],
  };
}

const instant = (): fc.Arbitrary<string> =>
  fc.integer({ min: Date.parse('2024-01-01T00:00:00Z'), max: Date.parse('2026-03-01T00:00:00Z') }).map((ms) => canonical(ms));

function later(at: string, hours: number): string {
  return canonical(Date.parse(at) + hours * HOUR_MS);
}

function canonical(ms: number): string {
  return new Date(ms)
    .toISOString()
    .replace('.000Z', 'Z')
    .replace(/(\.\d{3})Z$/, '$1000Z');
}
