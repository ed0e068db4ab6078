// The receivables report while invoices are being stored, and the order of its groups.
import { randomUUID } from 'node:crypto';
import { GetReceivablesReportRequest, ReceivablesGroupBy } from '@truckroll/contract/gen/billing/v1/receivables_report';
import type { Database, Transaction } from '@truckroll/postgres';
import { NameCache } from '@truckroll/record-store';
import { silentLog } from '@truckroll/telemetry';
import { openFreshDatabase } from '@truckroll/testing';
import { readReceivables } from '../src/reports/receivables.ts';
import { schema } from '../src/schema.ts';
import { importLines, invoice, type Line } from './records.ts';

let database: Database;
let close: () => Promise<void>;
let company: string;
beforeAll(async () => void ({ database, close } = await openFreshDatabase(schema, { settings: schema.settings })));
afterAll(() => close());
beforeEach(() => void (company = randomUUID()));

const store = async (...lines: Line[]): Promise<void> => {
  expect((await importLines(database, company, 'invoices', lines)).problems).toEqual([]);
};
const owing = (cents: number, fields: Line = {}) =>
  invoice({ amounts: { subtotal_cents: 0, discount_cents: 0, discounted_subtotal_cents: 0, tax_cents: cents, total_cents: cents }, ...fields });

function read(through = database, limit = 100, after: Uint8Array = Buffer.alloc(0), group_by?: ReceivablesGroupBy) {
  const request = GetReceivablesReportRequest.decode(new Uint8Array());
  const collection = { company_id: company, time_zone: 'America/Chicago', limit, after, ids: [] };
  return readReceivables(through, new NameCache(database, schema.schema, silentLog), {
    ...request,
    collection,
    group_by,
  } as unknown as GetReceivablesReportRequest);
}

/** The database, with work before each statement of the report's transaction. */
function interrupted(before: (statement: number) => Promise<void>): Database {
  const of = (companyId: string) => {
    const own = database.of(companyId);
    const transaction: typeof own.transaction = (work, options) =>
      own.transaction((tx) => {
        let statement = 0;
        const query = async (text: Parameters<Transaction['query']>[0]) => {
          await before(++statement);
          return tx.query<never>(text);
        };
        return work({ ...tx, query });
      }, options);
    return { ...own, transaction };
  };
  return { of } as unknown as Database;
}

test('adds up only invoices that were stored before it began to read', async () => {
  await store(owing(500));
  const { data } = await read(interrupted((statement) => (statement === 1 ? Promise.resolve() : store(owing(70)))));
  expect(data.at(-1)).toMatchObject({ invoice_count: 1, open_balance_cents: 500 });
  expect((await read()).data.at(-1)).toMatchObject({ invoice_count: 3, open_balance_cents: 640 });
});

test('asks to try again after 2 s while an invoice of an older release has no open balance, in its company only', async () => {
  await store(owing(500));
  const older = company;
  await database.query({ text: 'update invoices set projection = 2 where company_id = $1', values: [company] });
  await expect(read()).rejects.toMatchObject({ status: 503, retryAfterSeconds: 2, message: expect.stringContaining('are still being prepared') });
  company = randomUUID();
  await store(owing(30));
  expect((await read()).data.at(-1)).toMatchObject({ open_balance_cents: 30 });
  await database.query({ text: 'delete from invoices where company_id = $1', values: [older] });
});

test('pages through groups without losing or repeating a row, with invoices without the group last', async () => {
  const units = Array.from({ length: 3 }, () => ({ id: randomUUID(), name: 'Unit' }));
  await store(...[...units, null].map((business_unit, n) => owing(n + 1, { business_unit })));
  const whole = (await read(database, 100, Buffer.alloc(0), ReceivablesGroupBy.BUSINESS_UNIT)).data;
  expect(whole.map(({ group }) => group?.value ?? null)).toEqual([...units.map(({ id }) => id).sort(), null].flatMap((value) => [value, value]));
  expect(whole.at(-1)?.group).toEqual({ dimension: 'SUMMARY_DIMENSION_BUSINESS_UNIT', value: null, label: null });
  for (const limit of [1, 2, 3, 8]) {
    const paged: typeof whole = [];
    for (let after: Uint8Array = Buffer.alloc(0), more = true; more; ) {
      const page = await read(database, limit, after, ReceivablesGroupBy.BUSINESS_UNIT);
      expect(page.data.length).toBeLessThanOrEqual(limit);
      paged.push(...page.data);
      expect(paged.length).toBeLessThanOrEqual(whole.length);
      after = page.next;
      more = after.length > 0;
    }
    expect(paged).toEqual(whole);
  }
});

test('shows the id of a group whose name is not known', async () => {
  const unit = { id: randomUUID(), name: 'Unit' };
  await store(owing(1, { business_unit: unit }));
  const { data } = await read(database, 1, Buffer.alloc(0), ReceivablesGroupBy.BUSINESS_UNIT);
  expect(data[0]?.group).toMatchObject({ value: unit.id, label: unit.id });
});
