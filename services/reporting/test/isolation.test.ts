// Two companies whose records have the same ids: a change of one company's records changes no row of the other company.
import { randomUUID } from 'node:crypto';
import type { IncomingEvent } from '@truckroll/outbox';
import type { Database } from '@truckroll/postgres';
import { openFreshDatabase } from '@truckroll/testing';
import { assignments } from '../src/read-models/assignments.ts';
import { companies } from '../src/read-models/companies.ts';
import { invoices } from '../src/read-models/invoices.ts';
import { jobs } from '../src/read-models/jobs.ts';
import { payments } from '../src/read-models/payments.ts';
import { applyTo, type ReadModel } from '../src/read-models/read-model.ts';
import { refunds } from '../src/read-models/refunds.ts';
import { transactionSettings, schema } from '../src/schema.ts';
import { SETTINGS, apply, assignment, build, financials, importFinancials, invoice, job, payment, refund, removal, settingsOf, type Line } from './records.ts';

const MODELS: Record<string, ReadModel> = { jobs, 'job-assignments': assignments, invoices, payments, refunds };

const [recorded, plain] = [job(), job()];
const LINES: Record<string, Line[]> = {
  jobs: [recorded, plain],
  'job-assignments': [assignment(recorded['id'])],
  invoices: [invoice(recorded['id'], 700), invoice(plain['id'], 50)],
  payments: [payment({ amount_cents: 30 })],
  refunds: [refund({ amount_cents: 7 })],
};

let database: Database;
let close: () => Promise<void>;
let tables: readonly string[];
let one: string;
let other: string;
let others: Record<string, unknown[]>;

beforeAll(async () => {
  ({ database, close } = await openFreshDatabase(schema, { settings: transactionSettings }));
  const { rows } = await database.query<{ name: string }>({
    text: `select table_name as name from information_schema.columns join information_schema.tables using (table_schema, table_name)
      where table_schema = current_schema() and column_name = 'company_id' and table_type = 'BASE TABLE' order by 1`,
  });
  tables = rows.map(({ name }) => name);
  other = await filled();
  others = await rowsOf(other);
}, 60_000);
afterAll(() => close());

beforeEach(async () => {
  one = await filled();
});

async function filled(): Promise<string> {
  const company = randomUUID();
  await set(company, SETTINGS);
  for (const [path, lines] of Object.entries(LINES)) await store(company, path, ...lines);
  await importFinancials(database, company, financials(recorded['id'], 300));
  await build(database);
  return company;
}

const store = (company: string, path: string, ...lines: Line[]): Promise<void> =>
  database.transaction((tx) => apply(tx, company, MODELS[path]!, path, ...lines));
const remove = (company: string, path: string): Promise<void> =>
  database.transaction((tx) =>
    applyTo(
      MODELS[path]!,
      tx,
      LINES[path]!.map(({ id }) => removal(company, id)),
    ),
  );

async function set(company: string, settings: typeof SETTINGS): Promise<void> {
  await database.transaction((tx) => applyTo(companies, tx, [settingsOf(company, settings)]));
}

async function rowsOf(company: string, of = tables): Promise<Record<string, unknown[]>> {
  const found = await Promise.all(
    of.map(async (table) => {
      const text = `select to_jsonb(t) as row from ${table} t where company_id = $1 order by to_jsonb(t)::text`;
      return [table, (await database.query({ text, values: [company] })).rows] as const;
    }),
  );
  return Object.fromEntries(found.filter(([, rows]) => rows.length > 0));
}

const raised = (line: Line): Line => ({ ...line, ...('amounts' in line ? { amounts: { ...line['amounts'], subtotal_cents: 999 } } : {}), status: 'VOIDED' });

const CHANGES: [string, (company: string) => Promise<unknown>][] = [
  [
    'changes its jobs',
    (company) => store(company, 'jobs', ...LINES['jobs']!.map((line) => ({ ...line, job_class: 'INSTALL', completed_at: '2026-04-02T15:00:00Z' }))),
  ],
  ['changes its invoices', (company) => store(company, 'invoices', ...LINES['invoices']!.map(raised))],
  ['moves its invoices to no job', (company) => store(company, 'invoices', ...LINES['invoices']!.map((line) => ({ ...line, job_id: null })))],
  ['changes its assignments', (company) => store(company, 'job-assignments', { ...LINES['job-assignments']![0], job_id: plain['id'] })],
  [
    'changes its payments and refunds',
    async (company) => {
      await store(company, 'payments', { ...LINES['payments']![0], status: 'FAILED' });
      await store(company, 'refunds', { ...LINES['refunds']![0], status: 'FAILED' });
    },
  ],
  [
    'imports costs that are not tracked',
    (company) => {
      const { costing, ...line } = financials(recorded['id'], 5);
      return importFinancials(database, company, { ...line, costing: { ...costing, tracking_status: 'UNTRACKED' } });
    },
  ],
  [
    'moves to another time zone, and keeps no costs any more',
    async (company) => {
      await set(company, { ...SETTINGS, timezone: 'Pacific/Kiritimati', costing_enabled: false });
      await build(database);
    },
  ],
  [
    'has its sums rebuilt',
    async (company) => {
      await database.query({ text: `update collection_sums set received_cents = 0 where company_id = $1`, values: [company] });
      await database.query({ text: `update summed set due_before = 'infinity' where company_id = $1`, values: [company] });
      await build(database);
    },
  ],
  ['is removed', (company) => database.transaction((tx) => applyTo(companies, tx, [{ companyId: company, key: company, payload: null } as IncomingEvent]))],
  ...Object.keys(LINES).map((path): [string, (company: string) => Promise<unknown>] => [`loses its ${path}`, (company) => remove(company, path)]),
];

test.each(CHANGES)('a company that %s leaves every row of another company with the same ids', async (_, change) => {
  const own = await rowsOf(one);
  expect(Object.keys(others)).toEqual(expect.arrayContaining(['companies', 'job_facts', 'job_financials', 'summed', 'collection_sums']));
  await change(one);
  expect(await rowsOf(other)).toEqual(others);
  expect(await rowsOf(one)).not.toEqual(own);
});

test('a company whose records are removed has no copies, facts and sums left, but the financials of imported lines', async () => {
  for (const path of Object.keys(LINES).toReversed()) await remove(one, path);
  await build(database);
  const kept = ['companies', 'summed', 'job_facts', 'job_financials', 'outbox', 'record_changes', 'spoiled_summaries'];
  const sums = ['job_sums', 'job_crosses'];
  expect(Object.keys(await rowsOf(one)).filter((table) => ![...kept, ...sums].includes(table))).toEqual([]);
  const { job_facts, job_financials } = await rowsOf(one);
  expect([job_facts, job_financials].map((rows) => rows?.map((each: any) => each.row.id))).toEqual([[recorded['id']], [recorded['id']]]);
});
