// The receivables report compared with an oracle that adds up the invoices of the list by the calendar alone: every group, filter and page.
import fc from 'fast-check';
import { agingOf } from '../derived/oracle.ts';
import type { Json } from '../support/expected.ts';
import { demoLines } from '../support/demo.ts';
import { holdingProjections } from '../support/held-projections.ts';
import { startSystem, type System, type TestCompany } from '../support/system.ts';
import { localDate } from './oracle/dates.ts';
import { readAll } from './oracle/records.ts';

const PATH = '/v1/reports/receivables';
const BUCKETS = ['CURRENT', 'PAST_DUE_1_30', 'PAST_DUE_31_60', 'PAST_DUE_61_90', 'PAST_DUE_91_PLUS', 'TOTAL'];
const ZONES = ['America/Chicago', 'Pacific/Kiritimati', 'Asia/Kathmandu'];
const QUESTIONS = 40;
const SEED = Number(process.env['REPORT_SEED'] ?? Math.floor(Math.random() * 1_000_000));
const DAY_MS = 86_400_000;
const KINDS: Record<string, string> = { account: 'accounts', business_unit: 'business-units', job_type: 'job-types' };
/** What an open balance and its groups follow from. */
const PATHS: ReadonlySet<string> = new Set([...Object.values(KINDS), 'invoices', 'payments']);

let system: System;
let chicago: World;
beforeAll(async () => {
  system = await startSystem();
  chicago = await world(5, 'America/Chicago');
}, 120_000);
afterAll(() => system.stop());

interface Question {
  groupBy: string | null;
  filters: Record<string, string[]>;
  limit: number;
}

interface World {
  company: TestCompany;
  invoices: Json[];
  names: Map<string, string>;
}

/** A demo company whose invoices are due around today, some without a group. */
async function world(seed: number, timezone: string): Promise<World> {
  const company = await system.createCompany(timezone);
  let random = seed;
  const next = (below: number): number => {
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((random / 2 ** 32) * below);
  };
  for (const [path, lines] of demoLines({ seed, size: 90, timezone, until: '2026-11-20T18:00:00Z' })) {
    if (!PATHS.has(path)) continue;
    if (path === 'invoices') {
      for (const line of lines) {
        const due_at = next(10) === 0 ? null : new Date(Date.now() - (next(170) - 40) * DAY_MS - next(DAY_MS)).toISOString();
        Object.assign(
          line,
          { due_at, status: next(3) === 0 ? line['status'] : 'OPEN' },
          next(6) === 0 ? { business_unit: null } : {},
          next(6) === 0 ? { job_type: null } : {},
        );
      }
    }
    expect([path, (await system.importRecords(company, path, lines)).problems]).toEqual([path, []]);
  }
  const invoices = await readAll(system, company, '/v1/invoices?limit=100');
  const named = await Promise.all(Object.values(KINDS).map((path) => readAll(system, company, `/v1/${path}?limit=100`)));
  return { company, invoices, names: new Map(named.flat().map(({ id, name }) => [id, name])) };
}

function questions({ invoices }: World): fc.Arbitrary<Question> {
  const ids = (of: (invoice: Json) => string | null | undefined) => {
    const values = [...new Set(invoices.flatMap((invoice) => of(invoice) ?? []))];
    if (values.length === 0) return fc.constant(undefined);
    return fc.option(fc.subarray(values, { minLength: 1, maxLength: Math.min(5, values.length) }), { nil: undefined, freq: 2 });
  };
  const date = fc.option(
    fc.integer({ min: Date.parse('2024-06-01'), max: Date.parse('2026-12-01') }).map((ms) => [new Date(ms).toISOString().slice(0, 10)]),
    { nil: undefined, freq: 2 },
  );
  return fc.record({
    groupBy: fc.constantFrom(null, ...Object.keys(KINDS)),
    limit: fc.constantFrom(1, 3, 7, 50, 100),
    filters: fc
      .record({
        account_id: ids(({ account }) => account.id),
        location_id: ids(({ location_id }) => location_id),
        job_id: ids(({ job_id }) => job_id),
        business_unit_id: ids(({ business_unit }) => business_unit?.id),
        job_type_id: ids(({ job_type }) => job_type?.id),
        job_class: ids(({ job_class }) => job_class),
        issued_from: date,
        issued_before: date,
      })
      // Few at once, so that most questions count something.
      .chain((all) => fc.subarray(Object.entries(all), { maxLength: 2 }))
      .map((some) => Object.fromEntries(some.filter((entry): entry is [string, string[]] => entry[1] !== undefined)))
      .filter(({ issued_from: from, issued_before: before }) => from === undefined || before === undefined || from[0]! < before[0]!),
  });
}

const MATCHES: Record<string, (invoice: Json, values: string[], timezone: string) => boolean> = {
  account_id: ({ account }, values) => values.includes(account.id),
  location_id: ({ location_id }, values) => values.includes(location_id),
  job_id: ({ job_id }, values) => values.includes(job_id),
  business_unit_id: ({ business_unit }, values) => values.includes(business_unit?.id),
  job_type_id: ({ job_type }, values) => values.includes(job_type?.id),
  job_class: ({ job_class }, values) => values.includes(job_class),
  issued_from: ({ issued_at }, [from], timezone) => issued_at !== null && localDate(issued_at, timezone) >= from!,
  issued_before: ({ issued_at }, [before], timezone) => issued_at !== null && localDate(issued_at, timezone) < before!,
};

function answerOf({ groupBy, filters }: Question, { invoices, names, company: { timezone } }: World, at: number): Json[] {
  const counted = invoices.filter(
    (invoice) => invoice['status'] === 'OPEN' && Object.entries(filters).every(([name, values]) => MATCHES[name]!(invoice, values, timezone)),
  );
  const rowsOf = (some: Json[], group: Json | null): Json[] =>
    BUCKETS.flatMap((bucket) => {
      const of = bucket === 'TOTAL' ? some : some.filter(({ due_at }) => agingOf(due_at, timezone, at)['bucket'] === bucket);
      const cents = of.reduce((sum, { amounts }) => sum + BigInt(amounts.total_cents - amounts.paid_cents - amounts.processing_cents), 0n);
      return of.length === 0 && group !== null ? [] : [{ group, bucket, invoice_count: of.length, open_balance_cents: Number(cents), currency: 'USD' }];
    });
  if (groupBy === null) return rowsOf(counted, null);
  const groups = [...Map.groupBy(counted, (invoice) => (invoice[groupBy]?.id ?? null) as string | null)];
  const sorted = groups.toSorted(([a], [b]) => ((a ?? '~') < (b ?? '~') ? -1 : 1));
  return sorted.flatMap(([value, some]) => rowsOf(some, { dimension: groupBy, value, label: value === null ? null : names.get(value) }));
}

function pathOf({ groupBy, filters, limit }: Question): string {
  const query = new URLSearchParams({ limit: String(limit), ...(groupBy === null ? {} : { group_by: groupBy }) });
  for (const [name, values] of Object.entries(filters)) for (const value of values) query.append(name, value);
  return `${PATH}?${query.toString()}`;
}

/** Reads within one day of the company, so that the oracle's today is the report's. */
async function ask({ company }: World, question: Question): Promise<{ rows: Json[]; at: number }> {
  for (;;) {
    const at = Date.now();
    const rows = await readAll(system, company, pathOf(question));
    const [first, last] = [at, Date.now()].map((ms) => localDate(new Date(ms).toISOString(), company.timezone));
    if (first === last) return { rows, at };
  }
}

test.each(ZONES.map((zone, n) => [zone, SEED + n] as const))(
  'answers questions about a company in %s as the oracle does, with REPORT_SEED=%i',
  async (zone, seed) => {
    const own = await world(seed, zone);
    const bare = Object.keys(KINDS).map((groupBy): Question => ({ groupBy, filters: {}, limit: 100 }));
    const asked = [{ groupBy: null, filters: {}, limit: 100 }, ...bare, ...fc.sample(questions(own), { seed, numRuns: QUESTIONS })];
    let counted = 0;
    for (const question of asked) {
      const { rows, at } = await ask(own, question);
      const expected = answerOf(question, own, at);
      expect({ question, rows }).toEqual({ question, rows: expected });
      if (expected.some(({ invoice_count }) => invoice_count > 0)) counted++;
    }
    expect(counted).toBeGreaterThan(QUESTIONS / 4);
    const all = answerOf(asked[0] as Question, own, Date.now());
    expect(all.every(({ invoice_count }) => invoice_count > 0)).toBe(true);
  },
  180_000,
);

test('echoes its parameters, follows a payment at once, and shows another company nothing', async () => {
  const { company, invoices } = chicago;
  const other = await system.createCompany();
  const open = invoices.find(({ status, job_class }) => status === 'OPEN' && job_class !== null) as Json;
  const filters = `account_id=${(open['account'].id as string).toUpperCase()}&job_class=${open['job_class']}&issued_from=2020-01-01`;
  const before = await system.get(company, `${PATH}?${filters}&group_by=job_type`);
  const lists = { location_id: null, job_id: null, business_unit_id: null, job_type_id: null };
  expect(before.body.report).toEqual({
    group_by: 'job_type',
    issued_from: '2020-01-01',
    issued_before: null,
    account_id: [open['account'].id],
    job_class: [open['job_class']],
    ...lists,
    as_of: expect.any(String),
  });
  expect(before.body.meta.timezone).toBe('America/Chicago');

  const total = async (): Promise<[number, number]> => {
    const { data, report } = (await system.get(company, PATH)).body;
    return [data.at(-1).open_balance_cents, Date.parse(report.as_of)];
  };
  const [owed] = await total();
  const payment = {
    id: '5b0c1d2e-3f40-4a5b-8c6d-7e8f90a1b2c3',
    number: null,
    account: open['account'],
    status: 'PAID',
    method: 'CARD',
    amount_cents: 700,
    currency: 'USD',
    occurred_at: '2026-11-20T18:00:00Z',
    created_at: '2026-11-20T18:00:00Z',
    updated_at: null,
    collected_by: null,
    invoice_allocations: [{ invoice_id: open['id'], applied_cents: 700 }],
  };
  expect((await system.importRecords(company, 'payments', [payment])).problems).toEqual([]);
  const paidAt = Date.now();
  const [left, asOf] = await total();
  expect([left, asOf >= paidAt]).toEqual([owed - 700, true]);

  const empty = (await system.get(other, PATH)).body.data;
  expect(empty.map(({ bucket, invoice_count, open_balance_cents }: Json) => [bucket, invoice_count, open_balance_cents])).toEqual(
    BUCKETS.map((bucket) => [bucket, 0, 0]),
  );
  expect((await system.get(other, `${PATH}?group_by=account`)).body.data).toEqual([]);
}, 60_000);

test('counts an invoice of midnight in the company’s zone to the day that begins', async () => {
  const { invoices } = chicago;
  const company = await system.createCompany('America/Chicago');
  const open = invoices.find(({ status }) => status === 'OPEN') as Json;
  const issued = ['2026-03-01T05:59:59.999999Z', '2026-03-01T06:00:00Z'].map((issued_at, n) => ({
    ...open,
    id: `00000000-0000-4000-8000-00000000000${n}`,
    issued_at,
  }));
  expect((await system.importRecords(company, 'invoices', issued)).problems).toEqual([]);
  const count = async (query: string): Promise<number> => (await system.get(company, `${PATH}?${query}`)).body.data.at(-1).invoice_count;
  expect([await count('issued_before=2026-03-01'), await count('issued_from=2026-03-01'), await count('issued_before=2026-03-02')]).toEqual([1, 1, 2]);
}, 60_000);

test('refuses other statuses, dates of other reports and a range that ends before it begins', async () => {
  const company = await system.createCompany();
  const refused = async (query: string) =>
    (await system.get(company, `${PATH}?${query}`)).body.error?.details.map(({ field, code }: Json) => `${field} ${code}`);
  expect(await refused('status=PAID&start_date=2026-01-01&bucket=month')).toEqual([
    'status UNKNOWN_PARAMETER',
    'start_date UNKNOWN_PARAMETER',
    'bucket UNKNOWN_PARAMETER',
  ]);
  expect(await refused('group_by=job_class')).toEqual(['group_by INVALID_ENUM_VALUE']);
  expect(await refused('issued_from=2026-02-01&issued_before=2026-01-01')).toEqual(['issued_before RANGE_ORDER']);
});

test('answers 503 while invoices of an older release lack their open balance, and 500 for a sum beyond the limit', async () => {
  const { company, invoices } = chicago;
  await holdingProjections(system, 'billing', async (database) => {
    await database.query({ text: 'update invoices set projection = 2 where company_id = $1 and id = $2', values: [company.id, invoices[0]!['id']] });
    expect((await system.get(company, PATH)).status).toBe(503);
    expect((await system.get(company, '/v1/invoices?missing=job_type')).status).toBe(200);
  });
  const rich = await system.createCompany();
  const huge = [1, 2].map((n) => ({
    ...invoices[0],
    id: `00000000-0000-4000-8000-00000000000${n}`,
    status: 'OPEN',
    due_at: null,
    line_items: [],
    discounts: [],
    amounts: {
      ...invoices[0]!['amounts'],
      subtotal_cents: 0,
      discount_cents: 0,
      discounted_subtotal_cents: 0,
      tax_cents: Number.MAX_SAFE_INTEGER,
      total_cents: Number.MAX_SAFE_INTEGER,
    },
  }));
  expect((await system.importRecords(rich, 'invoices', huge)).problems).toEqual([]);
  const { status, body } = await system.get(rich, PATH);
  expect([status, body.error.message]).toEqual([500, expect.stringContaining('open_balance_cents of CURRENT is beyond')]);
}, 60_000);
