// Sums contain what facts come to, whatever states the records have had, and in steps of any size.
import { resource } from '@truckroll/contract';
import type { Database } from '@truckroll/postgres';
import { openFreshDatabase } from '@truckroll/testing';
import { assignments } from '../src/read-models/assignments.ts';
import { invoices } from '../src/read-models/invoices.ts';
import { jobs } from '../src/read-models/jobs.ts';
import { payments } from '../src/read-models/payments.ts';
import { refunds } from '../src/read-models/refunds.ts';
import { transactionSettings, schema } from '../src/schema.ts';
import { verifyReports } from '../src/sums/verify.ts';
import { apply, assignment, build, financials, importFinancials, invoice, job, newCompany, payment, refund, type Line } from './records.ts';

/** One whose dates begin after those of UTC, and one whose dates begin before. */
const ZONES = ['America/Chicago', 'Pacific/Kiritimati'];
/** Around the first of April in Chicago, and one microsecond before it. */
const TIMES = ['2026-03-10T12:00:00Z', '2026-04-01T04:59:59.999999Z', '2026-04-01T05:00:00Z'];
const TABLES = ['invoice', 'collection', 'job', 'participation'].flatMap((name) => [`${name}_sums`, `${name}_crosses`]);

let database: Database;
let close: () => Promise<void>;
beforeAll(async () => void ({ database, close } = await openFreshDatabase(schema, { settings: transactionSettings })), 60_000);
afterAll(() => close());

const spellings = (path: string, field: string): (string | null)[] => {
  const { enum: values, nullable } = resource(path).record.byName.get(field)!;
  return [...values!.names.values(), ...(nullable ? [null] : [])];
};
const ref = (n: number): Line => ({ id: `4f1d2c3b-4a59-4687-9b0c-00000000000${n}`, name: `n${n}` });

/** A power of two for each record, so that no two sets of records have the same sum. */
function lines(): Record<string, Line[]> {
  let cents = 1;
  const next = (): number => (cents *= 2);
  const each = <T>(values: readonly T[], of: (value: T, n: number) => Line): Line[] => values.map(of);
  const at = (n: number): string => TIMES[n % TIMES.length]!;
  const work = (n: number): Line => ({ account: ref(n % 2), business_unit: n % 2 === 0 ? null : ref(2), job_type: n % 3 === 0 ? null : ref(3) });
  const all = each([0, 1, 2, 3, 4, 5], (n) =>
    job({ ...work(n), job_class: n === 2 ? null : 'INSTALL', created_at: at(n), completed_at: n < 3 ? null : at(n + 1) }),
  );
  const amounts = (subtotal_cents: number): Line => ({
    subtotal_cents,
    discount_cents: next(),
    discounted_subtotal_cents: 0,
    tax_cents: next(),
    total_cents: 0,
  });
  return {
    jobs: all,
    'job-assignments': each([0, 0, 1, 5], (of, n) => assignment(all[of]!['id'], { team_member: ref(4 + (n % 2)) })),
    invoices: each(spellings('invoices', 'status'), (status, n) => ({
      ...invoice(all[n % all.length]!['id'], 0),
      ...work(n),
      status,
      issued_at: n % 4 === 3 ? null : at(n),
      amounts: amounts(next()),
    })),
    payments: each(spellings('payments', 'status'), (status, n) =>
      payment({ status, account: ref(n % 2), amount_cents: next(), occurred_at: at(n), collected_by: n % 2 === 0 ? null : ref(4) }),
    ),
    refunds: each(spellings('refunds', 'status'), (status, n) =>
      refund({ status, account: ref(n % 2), amount_cents: next(), occurred_at: at(n), collected_by: n % 2 === 0 ? null : ref(4) }),
    ),
    'job-financials': each(all, ({ id }, n) => {
      const line = financials(id, next());
      const costing = {
        tracking_status: n === 4 ? 'UNTRACKED' : 'TRACKED',
        verification_status: n % 2 === 0 ? 'VERIFIED' : 'UNVERIFIED',
        job_type_included: n % 3 !== 1,
      };
      const categories = ['labor', 'parts', 'equipment', 'misc', 'other'];
      return { ...line, costing, cost_entries: line['cost_entries'].map((entry: Line) => ({ ...entry, category: categories[n % categories.length] })) };
    }),
  };
}

const TIME_FIELDS = ['issued_at', 'occurred_at', 'created_at', 'completed_at'];

/** The same records, each with these fields of the next one, or with all but its id. */
function rotated(of: Record<string, Line[]>, ...fields: string[]): Record<string, Line[]> {
  const taken = (line: Line): Line => (fields.length === 0 ? line : Object.fromEntries(fields.flatMap((name) => (name in line ? [[name, line[name]]] : []))));
  const next = (all: readonly Line[]): Line[] => all.map((line, n) => ({ ...line, ...taken(all[(n + 1) % all.length]!), id: line['id'] }));
  return Object.fromEntries(Object.entries(of).map(([path, all]) => [path, next(all)]));
}

async function store(id: string, of: Record<string, Line[]>): Promise<void> {
  for (const [path, model] of Object.entries({ jobs, 'job-assignments': assignments, invoices, payments, refunds })) {
    for (const line of of[path]!) await database.transaction((tx) => apply(tx, id, model, path, line));
  }
  await importFinancials(database, id, ...of['job-financials']!);
}

async function sumsOf(id: string): Promise<Record<string, unknown[]>> {
  const found = TABLES.map(async (table) => {
    const text = `select to_jsonb(t) - 'company_id' as sum from ${table} t where company_id = $1 order by 1`;
    return [table, (await database.query({ text, values: [id] })).rows] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}

test.each(ZONES)('sums in %s are the same whether they followed the records or were made after them', async (zone) => {
  const records = lines();
  const before = await newCompany(database, zone);
  await build(database);
  // Each record has been in the state of another one before.
  await store(before, rotated(records));
  await build(database);
  await store(before, rotated(records, ...TIME_FIELDS));
  await store(before, records);
  const after = await newCompany(database, zone);
  await store(after, records);
  await build(database);
  const [added, built] = [await sumsOf(before), await sumsOf(after)];
  for (const table of TABLES) expect([table, built[table]!.length > 0]).toEqual([table, true]);
  expect(built).toEqual(added);
  for (const id of [before, after]) {
    for await (const step of verifyReports(database, id, new AbortController().signal)) expect(step).toMatchObject({ built: true, differences: [] });
  }
});

test.each([1, 2, 3, 1000])('days are summed in steps of about %i facts, of which each takes whole days', async (facts) => {
  const records = lines();
  const id = await newCompany(database);
  await store(id, records);
  await build(database, { facts });
  for await (const step of verifyReports(database, id, new AbortController().signal)) expect(step).toMatchObject({ built: true, differences: [] });
  await store(id, rotated(records));
  await build(database, { facts });
  for await (const step of verifyReports(database, id, new AbortController().signal)) expect(step).toMatchObject({ built: true, differences: [] });
});

test('sums contain exactly the issued invoices, the paid payments, the refunds that succeeded, and the jobs whose costs are tracked', async () => {
  const records = lines();
  const id = await newCompany(database);
  await store(id, records);
  await build(database);
  const total = (path: string, counts: (line: Line) => boolean, cents: (line: Line) => number): number =>
    records[path]!.filter(counts).reduce((sum, line) => sum + cents(line), 0);
  const { rows } = await database.query<Record<string, number>>({
    text: `select (select sum(received_cents)::bigint from collection_sums where company_id = $1 and part = 'day') as received,
        (select sum(refunded_cents)::bigint from collection_sums where company_id = $1 and part = 'month') as refunded,
        (select sum(tax_cents)::bigint from invoice_sums where company_id = $1 and part = 'day') as tax,
        (select sum(labor_cost_cents + parts_cost_cents + equipment_cost_cents + misc_cost_cents + other_cost_cents)::bigint
          from job_sums where company_id = $1 and part = 'month') as costs`,
    values: [id],
  });
  expect(rows).toEqual([
    {
      received: total(
        'payments',
        ({ status }) => status === 'PAID',
        ({ amount_cents }) => amount_cents,
      ),
      refunded: total(
        'refunds',
        ({ status }) => status === 'SUCCEEDED',
        ({ amount_cents }) => amount_cents,
      ),
      tax: total(
        'invoices',
        ({ issued_at }) => issued_at !== null,
        ({ amounts }) => amounts.tax_cents,
      ),
      costs: total(
        'job-financials',
        ({ costing }) => costing.tracking_status === 'TRACKED',
        ({ cost_entries: [entry] }) => entry.total_cents,
      ),
    },
  ]);
});
