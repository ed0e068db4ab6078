// Two replicas import records of one company at the same moment. Fields that are derived from several records must show all of them.
import { randomUUID } from 'node:crypto';
import { topics } from '@truckroll/contract';
import { GetInvoiceResponse } from '@truckroll/contract/gen/billing/v1/invoices';
import { GetRefundResponse } from '@truckroll/contract/gen/billing/v1/refunds';
import { Database } from '@truckroll/postgres';
import { NameCache, RecordReader, type Table } from '@truckroll/record-store';
import { silentLog } from '@truckroll/telemetry';
import { freshDatabase, mustWait, type TestDatabase } from '@truckroll/testing';
import { invoices } from '../src/resources/invoices.ts';
import { refunds } from '../src/resources/refunds.ts';
import { schema } from '../src/schema.ts';
import { AT, account, importLines, invoice, payment, type Line } from './records.ts';

/** Advisory lock that every import takes shared, after everything else and before its commit. */
const PAUSE = 1;

let fresh: TestDatabase;
let replicas: Database[];
let company: string;
beforeAll(async () => {
  fresh = await freshDatabase({ [schema.schema]: schema.migrations });
  replicas = [1, 2].map(() => new Database({ url: fresh.url, ...schema }));
  const [database] = replicas as [Database];
  await database.query({
    text: `create function pause() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock_shared(${PAUSE}); return new; end $$`,
  });
  // The audit event is an import's last statement before its commit.
  await database.query({
    text: `create trigger pauses before insert on outbox for each row when (new.topic = '${topics.billingAudit.name}') execute function pause()`,
  });
});
afterAll(async () => {
  await Promise.all(replicas.map((database) => database.close()));
  await fresh.drop();
});
beforeEach(() => {
  company = randomUUID();
});

const owed = invoice();
const paid = payment({ [owed.id]: 700 }, { method: 'CARD', amount_cents: 700 });
const refund = {
  id: randomUUID(),
  payment_id: paid.id,
  account,
  status: 'SUCCEEDED',
  amount_cents: 1,
  currency: 'USD',
  occurred_at: AT,
  created_at: AT,
  payment_method: 'CASH',
  collected_by: null,
};
const lines: Record<string, Line> = { invoices: owed, payments: paid, refunds: refund };

const importBy = (database: Database, path: string) => importLines(database, company, path, [lines[path]!]);

async function importConcurrently(first: string, second: string): Promise<void> {
  const [one, other] = replicas as [Database, Database];
  const pause = await one.session();
  await pause.query({ text: `select pg_advisory_lock(${PAUSE})` });
  const storing = importBy(one, first);
  await mustWait(one, storing);
  const following = importBy(other, second);
  await mustWait(one, following, 2);
  await pause.close();
  for (const { created, problems } of await Promise.all([storing, following])) expect({ created, problems }).toEqual({ created: 1, problems: [] });
}

async function detail(table: unknown, id: string): Promise<Buffer> {
  const [database] = replicas as [Database];
  const names = new NameCache(database, schema.schema, silentLog);
  return new RecordReader(table as Table, { database, names }).detail({ company_id: company, time_zone: 'UTC', id });
}

test.each([
  ['payments', 'invoices'],
  ['invoices', 'payments'],
] as const)('shows the payment on its invoice when %s are stored while %s are imported', async (first, second) => {
  await importConcurrently(first, second);
  const { data } = GetInvoiceResponse.decode(await detail(invoices, owed.id));
  expect(data).toMatchObject({ amounts: { paid_cents: 700 }, payment_applications: [{ payment_id: paid.id }] });
});

test.each([
  ['payments', 'refunds'],
  ['refunds', 'payments'],
] as const)('shows the payment’s method on its refund when %s are stored while %s are imported', async (first, second) => {
  await importConcurrently(first, second);
  expect(GetRefundResponse.decode(await detail(refunds, refund.id)).data).toMatchObject({ payment_method: 'PAYMENT_METHOD_CARD' });
});
