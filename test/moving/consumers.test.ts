// Before a service refuses changes of a company, its consumers have applied what was published, and work that has begun ends.
import { randomUUID } from 'node:crypto';
import { topics } from '@truckroll/contract';
import { AuditEntry } from '@truckroll/contract/gen/events/v1/audit';
import { holdingLocks, openProducer } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import type { FreezeOptions } from '../../packages/erasure/src/freeze.ts';
import { learning } from '../../packages/erasure/src/learn.ts';
import { Consumer, PERSON_ERASED, auditEntry, createKafka, endsOf, ensureTopics, moveGroup, type Topic } from '../../packages/outbox/src/index.ts';
import {
  Collected,
  HEADERS,
  SCHEMA,
  brokers,
  createMetrics,
  createTopic,
  kafka,
  newTopic,
  openSetting,
  silentLog,
} from '../../packages/outbox/test/setting.ts';
import { callsOf, disconnect } from './freezing.ts';

const company_id = '0e37df36-f698-11e6-8dd4-cb9ced3df976';
const OTHER = '7c9e6679-7425-40de-944b-e07fc1f90ae7';

let setting: Awaited<ReturnType<typeof openSetting>>;
beforeAll(async () => void (setting = await openSetting()), 60_000);
afterEach(async () => {
  const { unfreeze, removeFences } = calls({});
  await unfreeze({ company_id });
  await removeFences({ company_id });
});
afterAll(async () => {
  await disconnect();
  await setting?.close();
});

const sql = (text: string, ...values: unknown[]) => setting.database.query<Record<string, any>>({ text, values });
const calls = (own: Partial<FreezeOptions>) => callsOf({ database: setting.database, kafka, restored: { groups: [] }, ...own });
const reading = (topic: Topic, own: Partial<FreezeOptions> = {}) => calls({ restored: { groups: [{ group: topic.name, topics: [topic] }] }, ...own });

test('waits until the consumer group has committed what was published before', async () => {
  const topic = await createTopic();
  const producer = await openProducer(kafka);
  await producer.send({ topic: topic.name, messages: [{ key: 'k', value: 'one', headers: { ...HEADERS, ce_id: randomUUID() } }] });
  await producer.disconnect();
  let hurried = 0;
  const { freeze } = reading(topic, { hurry: async () => void (hurried += 1) });
  const wait = `the consumer group ${topic.name} to apply what was published before`;
  const first = await until(
    'an answer of Kafka, which makes its own topics at first',
    () => freeze({ company_id }).catch(() => undefined),
    (answer) => answer !== undefined,
  );
  expect(first).toEqual({ state: { begun: true, closed: false, waits_for: wait } });
  expect(hurried).toBeGreaterThan(0);
  const consumer = new Consumer({ kafka, group: topic.name, topics: [topic], log: silentLog, metrics: createMetrics('trial'), handle: async () => undefined });
  await consumer.start();
  await until(
    'the freeze',
    () => freeze({ company_id }),
    ({ state }) => state?.closed === true,
  );
  await consumer.stop();
});

test('closes before the audit trail is complete, and says then what of it is still to come', async () => {
  const topic = await createTopic();
  const publish = async (): Promise<void> => {
    const producer = await openProducer(kafka);
    await producer.send({ topic: topic.name, messages: [{ key: 'k', value: 'one', headers: { ...HEADERS, ce_id: randomUUID() } }] });
    await producer.disconnect();
  };
  await publish();
  let hurried = 0;
  const { freeze } = reading(topic, { trail: topic.name, hurry: async () => void (hurried += 1) });
  const complete = { state: { begun: true, closed: true } };
  const late = { state: { ...complete.state, waits_for: `the consumer group ${topic.name} to apply what was published before`, ask_seldom: true } };
  expect(await freeze({ company_id })).toEqual(complete);
  expect(await freeze({ company_id })).toEqual(late);
  await moveGroup(kafka, topic.name, await endsOf(kafka, [topic]));
  await publish();
  expect(await freeze({ company_id })).toEqual(complete);
  // As a move asks for it, when the other services are closed too.
  await sql('update frozen_companies set passes = null');
  expect(await freeze({ company_id })).toEqual(late);
  await moveGroup(kafka, topic.name, await endsOf(kafka, [topic]));
  expect(await freeze({ company_id })).toEqual(complete);
  expect(hurried).toBe(0);
});

test('does not wait for watermarks, which are of no company', async () => {
  const { freeze } = calls({ restored: { groups: [{ group: 'any', topics: [topics.watermarks] }] } });
  expect(await freeze({ company_id })).toEqual({ state: { begun: true, closed: true } });
});

test('waits for a topic that Kafka does not show, and closes nothing before', async () => {
  const hidden = newTopic();
  const { freeze } = reading(hidden);
  expect(await freeze({ company_id })).toMatchObject({
    state: { closed: false, waits_for: expect.stringContaining(`${hidden.name}, which Kafka does not show`) },
  });
  await ensureTopics(kafka, [hidden], silentLog, new AbortController().signal);
  await until(
    'the freeze',
    () => freeze({ company_id }),
    ({ state }) => state?.closed === true,
  );
});

test('waits for work that begins while it waits for the company’s lock', async () => {
  const underWay = `(select 'work' from applied limit 1)`;
  const { freeze } = calls({ underWay, lock: async () => void (await sql(`insert into applied (key) values ('x')`)) });
  expect(await freeze({ company_id })).toMatchObject({ state: { closed: false, waits_for: 'work' } });
  await sql('delete from applied');
  expect(await calls({ underWay }).freeze({ company_id })).toMatchObject({ state: { closed: true } });
});

test('closes nothing if the company is unfrozen meanwhile, and an end of a service leaves no row that holds its work up', async () => {
  const { unfreeze } = calls({});
  const { freeze } = calls({ lock: async () => void (await unfreeze({ company_id })) });
  await expect(freeze({ company_id })).rejects.toMatchObject({ status: 409, message: expect.stringContaining('unfrozen meanwhile') });
  expect((await sql('select from frozen_companies')).rowCount).toBe(0);
});

test('closes nothing for a command that has ended, and may have opened the company again', async () => {
  const caller = new AbortController();
  const { unfreeze, getFreeze } = calls({});
  const lock = async (): Promise<void> => caller.abort(new Error('cancelled'));
  await expect(calls({ lock }).freeze({ company_id }, caller.signal)).rejects.toThrow('cancelled');
  expect(await getFreeze({ company_id })).toMatchObject({ state: { begun: true, closed: false } });
  await unfreeze({ company_id });
  await expect(calls({}).freeze({ company_id }, caller.signal)).rejects.toThrow('cancelled');
  expect((await sql('select from frozen_companies')).rowCount).toBe(0);
});

test('keeps the triggers of a company that is frozen again while they are being removed', async () => {
  const { freeze, unfreeze, removeFences } = calls({});
  await freeze({ company_id });
  await unfreeze({ company_id });
  await holdingLocks({ url: setting.server.url, schema: SCHEMA }, async (holder) => {
    // As a freeze does before it closes the company.
    await holder.run(`select pg_advisory_xact_lock(hashtextextended('freeze in ' || current_schema() || ' of ' || $1::text, 0))`, [company_id]);
    const removal = removeFences({ company_id });
    await holder.waiting(1, removal);
    await holder.run(`insert into frozen_companies (company_id, passes, closed_at) values ($1, '[]', now())`, [company_id]);
    await holder.commit();
    await expect(removal).rejects.toMatchObject({ status: 409, message: expect.stringContaining('is frozen in this service') });
  });
  expect((await sql(`select from pg_trigger where tgname like 'frozen%'`)).rowCount).toBeGreaterThan(0);
});

test('people of a frozen company are learnt after the freeze, and those of others at once', async () => {
  const client = createKafka('test', { kafkaBrokers: brokers, kafkaPrefix: `${randomUUID()}.` }, silentLog);
  await ensureTopics(client, [topics.erasures], silentLog, new AbortController().signal);
  const producer = await openProducer(client);
  for (const companyId of [company_id, OTHER]) {
    const entry = auditEntry({ companyId, action: PERSON_ERASED, object: { kind: 'accounts', id: randomUUID() } });
    const headers = { ...HEADERS, ce_id: entry.id };
    const messages = [{ key: entry.id, value: Buffer.from(AuditEntry.encode(entry).finish()), headers }];
    await producer.send({ topic: client.prefix + topics.erasures.name, messages });
  }
  await producer.disconnect();
  const { freeze, unfreeze } = calls({});
  expect(await freeze({ company_id })).toMatchObject({ state: { closed: true } });
  const rounds = new Collected<boolean>();
  const learnt = async () => (await sql('select company_id as id from erased_people order by 1')).rows.map(({ id }) => id as string);
  const task = learning({ database: setting.database, log: silentLog } as never, { kafka: client } as never, () => rounds.add(true));
  task.start();
  await rounds.count(1);
  expect(await learnt()).toEqual([OTHER]);
  await unfreeze({ company_id });
  task.now();
  await rounds.count(2);
  await task.stop();
  expect(await learnt()).toEqual([company_id, OTHER]);
});
