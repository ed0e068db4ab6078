// The calls by which `truckroll verify` compares copies with the records of their owners.
import { randomUUID } from 'node:crypto';
import { codec } from '@truckroll/contract';
import type { Database } from '@truckroll/postgres';
import { openFreshDatabase } from '@truckroll/testing';
import { readModelAdmin } from '../src/read-models/admin.ts';
import { transactionSettings, schema } from '../src/schema.ts';
import { apply, eventOf, job, messageOf, payment } from './records.ts';
import { jobs } from '../src/read-models/jobs.ts';
import { payments } from '../src/read-models/payments.ts';

let database: Database;
let close: () => Promise<void>;
beforeAll(async () => void ({ database, close } = await openFreshDatabase(schema, { settings: transactionSettings })), 60_000);
afterAll(() => close());

const admin = () => readModelAdmin({ database, kafka: undefined as never, group: 'reporting', begun: () => undefined });

test('lists the ids of a company’s copies, beginning after a given id', async () => {
  const [company, other] = [randomUUID(), randomUUID()];
  const lines = Array.from({ length: 3 }, () => payment());
  await database.transaction((tx) => apply(tx, company, payments, 'payments', ...lines));
  await database.transaction((tx) => apply(tx, other, payments, 'payments', payment()));
  const ids = lines.map(({ id }) => id as string).sort();
  const after = async (id: string) => (await admin().listCopyIds({ company_id: company, path: 'payments', after: id })).ids;
  expect(await after('')).toEqual(ids);
  expect(await after(ids[0]!)).toEqual(ids.slice(1));
  expect(await after(ids[2]!)).toEqual([]);
});

test('names the copies that are missing or differ from their owner’s records, and no others', async () => {
  const company = randomUUID();
  const [same, changed, missing] = [payment(), payment(), payment()];
  await database.transaction((tx) => apply(tx, company, payments, 'payments', same, changed));
  await database.transaction((tx) => apply(tx, randomUUID(), payments, 'payments', missing));
  const records = [same, { ...changed, amount_cents: 2 }, missing].map((line) => eventOf(company, 'payments', line).payload!);
  const { differing_ids } = await admin().compareCopies({ company_id: company, path: 'payments', records });
  expect(differing_ids.toSorted()).toEqual([changed['id'], missing['id']].toSorted());
});

test('compares jobs by what financials show of them: not by names, and not by what follows from visits', async () => {
  const company = randomUUID();
  const [same, changed] = [job(), job()];
  await database.transaction((tx) => apply(tx, company, jobs, 'jobs', same, changed));
  const renamed = { ...same, account: { ...same['account'], name: 'Renamed' } };
  const visited = { ...(messageOf('jobs', renamed) as object), appointment_count: 3, first_starts_at: 5 };
  const records = [codec('truckroll.scheduling.v1.Job').encode(visited).finish(), eventOf(company, 'jobs', { ...changed, number: 'J-2' }).payload!];
  const { differing_ids } = await admin().compareCopies({ company_id: company, path: 'jobs', records: records.map((record) => Buffer.from(record)) });
  expect(differing_ids).toEqual([changed['id']]);
});

test('refuses a path of which there are no copies, and names those that there are', async () => {
  const refusal = { status: 400, details: [{ field: 'path', message: expect.stringContaining('payments') }] };
  await expect(admin().listCopyIds({ company_id: randomUUID(), path: 'tags', after: '' })).rejects.toMatchObject(refusal);
  await expect(admin().compareCopies({ company_id: randomUUID(), path: 'tags', records: [] })).rejects.toMatchObject(refusal);
});
