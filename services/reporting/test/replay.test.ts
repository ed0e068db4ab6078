// Copies that are rewritten from their topic: rows of an older version in the background, and all rows in a rebuild.
import { randomBytes, randomUUID } from 'node:crypto';
import { topics } from '@truckroll/contract';
import { createKafka, ensureTopics, type KafkaClient } from '@truckroll/outbox';
import type { Database } from '@truckroll/postgres';
import type { RebuildResponse } from '@truckroll/contract/gen/reporting/v1/admin';
import { silentLog } from '@truckroll/telemetry';
import { openFreshDatabase, openProducer } from '@truckroll/testing';
import { projections } from '../src/projections.ts';
import { payments } from '../src/read-models/payments.ts';
import { rebuildAll, removeOlderThan } from '../src/read-models/rebuild.ts';
import { transactionSettings, schema } from '../src/schema.ts';
import { apply, eventOf, payment, type Line } from './records.ts';

const GROUP = 'reporting';

let database: Database;
let close: () => Promise<void>;
let kafka: KafkaClient;
let company: string;
beforeAll(async () => void ({ database, close } = await openFreshDatabase(schema, { settings: transactionSettings })), 60_000);
afterAll(() => close());
beforeEach(async () => {
  const kafkaBrokers = (process.env['KAFKA_BROKERS'] ?? '').split(',');
  kafka = createKafka('test', { kafkaBrokers, kafkaPrefix: `replay-${randomBytes(4).toString('hex')}-` }, silentLog);
  // One partition, so that a batch has more events than one transaction applies.
  await ensureTopics(kafka, [{ ...topics.payments, partitions: 1 }], silentLog, new AbortController().signal);
  await database.query({ text: 'with gone as (delete from payments) delete from inbox_version' });
  company = randomUUID();
});

const stored = (of: string, ...lines: Line[]): Promise<void> => database.transaction((tx) => apply(tx, of, payments, 'payments', ...lines));

async function publish(of: string, version: number, ...lines: Line[]): Promise<void> {
  const producer = await openProducer(kafka);
  const headers = { ce_type: 'changed', ce_source: '/truckroll/billing', ce_companyid: of, ce_time: '2026-03-01T00:00:00Z', ce_version: String(version) };
  const messages = lines.map((line) => ({
    key: `${of}/${line['id']}`,
    value: eventOf(of, 'payments', line).payload,
    headers: { ...headers, ce_id: randomUUID() },
  }));
  await producer.send({ topic: kafka.prefix + topics.payments.name, messages });
  await producer.disconnect();
}

async function amounts(of = company): Promise<Record<string, number>> {
  const { rows } = await database.query<{ id: string; amount_cents: number }>({
    text: 'select id, amount_cents from payments where company_id = $1',
    values: [of],
  });
  return Object.fromEntries(rows.map(({ id, amount_cents }) => [id, amount_cents]));
}
const outdate = (of: string, ...lines: Line[]) =>
  database.query({ text: 'update payments set projection = 0 where company_id = $1 and id = any($2::uuid[])', values: [of, lines.map(({ id }) => id)] });
const outdated = async (): Promise<number> => (await database.query({ text: 'select from payments where projection < 1' })).rowCount;

async function renew(): Promise<{ renewed: number; rests: number }> {
  const projection = projections({ database, kafka, group: GROUP }).find(({ path }) => path === 'copies/payments')!;
  let [renewed, rests] = [0, 0];
  await projection.renew({
    signal: new AbortController().signal,
    renewed: (rows) => void (renewed += rows),
    refused: () => undefined,
    rest: async () => void (rests += 1),
  });
  return { renewed, rests };
}

test('rewrites outdated rows from the topic, and removes those that it no longer has, but no others', async () => {
  const many = Array.from({ length: 501 }, () => payment({ amount_cents: 1 }));
  const [gone, current, elsewhere] = [payment({ amount_cents: 1 }), payment({ amount_cents: 1 }), payment({ amount_cents: 1 })];
  const other = randomUUID();
  await stored(company, ...many, gone, current);
  await stored(other, elsewhere, many[0]!, current);
  await outdate(company, ...many, gone);
  await outdate(other, current);
  await publish(company, 1, ...[...many, current].map((line) => ({ ...line, amount_cents: 2 })));
  await publish(other, 1, ...[elsewhere, many[0]!, current].map((line) => ({ ...line, amount_cents: 2 })));
  const { renewed, rests } = await renew();
  expect(await amounts()).toEqual(Object.fromEntries([...many.map(({ id }) => [id, 2]), [current['id'], 1]]));
  expect(await amounts(other)).toEqual({ [elsewhere['id']]: 1, [many[0]!['id']]: 1, [current['id']]: 2 });
  expect([renewed, await outdated()]).toEqual([503, 0]);
  expect(rests).toBeGreaterThan(0);
});

test('leaves an outdated row unchanged if a newer event of its record has been applied', async () => {
  const line = payment({ amount_cents: 3 });
  await stored(company, line);
  await outdate(company, line);
  await publish(company, 7, { ...line, amount_cents: 2 });
  await database.query({ text: 'insert into inbox_version values ($1, $2, $3, 8)', values: [GROUP, topics.payments.name, `${company}/${line['id']}`] });
  // Written after the start, as by the subscriber.
  await database.query({ text: `update payments set copied_at = now() + interval '1 hour'` });
  await renew();
  expect(await amounts()).toEqual({ [line['id']]: 3 });
});

test('rebuilds every row from the topic, also from events that were applied before, and reports its progress', async () => {
  const [wrong, missing, gone] = [payment({ amount_cents: 1 }), payment({ amount_cents: 2 }), payment({ amount_cents: 1 })];
  await stored(company, wrong, gone);
  await publish(company, 7, { ...wrong, amount_cents: 2 }, missing);
  await database.query({ text: 'insert into inbox_version values ($1, $2, $3, 7)', values: [GROUP, topics.payments.name, `${company}/${wrong['id']}`] });
  const steps: RebuildResponse[] = [];
  await rebuildAll([payments], { database, kafka, group: GROUP, signal: new AbortController().signal }, (step) => void steps.push(step));
  expect(await amounts()).toEqual({ [wrong['id']]: 2, [missing['id']]: 2 });
  expect(steps.at(-1)).toEqual({ table: 'payments', applied: 2, removed: 1, done: true, share: 1 });
  expect(steps.slice(0, -1).filter(({ table, removed, done }) => table !== 'payments' || removed > 0 || done)).toEqual([]);
});

test('stops removing rows when it is aborted', async () => {
  await stored(company, payment());
  await expect(removeOlderThan(database, payments, '2100-01-01', AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
  expect(Object.keys(await amounts())).toHaveLength(1);
});
