// Dead letters are a consumer's own: consumers of one database share a table.
import { randomUUID } from 'node:crypto';
import { pinClock } from '@truckroll/testing';
import { deadLetterOf, deadLettersAfter, deleteDeadLetters, forgetDeadLetters, listDeadLetters, storeDeadLetter, takeDeadLetter } from '../src/dead-letters.ts';
import type { IncomingEvent } from '../src/event.ts';
import { deadLetterHandlers, type Subscriber } from '../src/index.ts';
import { COMPANY, SCHEMA, openSetting } from './setting.ts';

let setting: Awaited<ReturnType<typeof openSetting>>;
beforeAll(async () => {
  setting = await openSetting();
});
afterEach(() => setting.database.query({ text: 'delete from parked_event' }));
afterAll(() => setting.close());

const event = (offset: number, payload: Buffer | null = Buffer.from(`event ${offset}`)): IncomingEvent => ({
  id: randomUUID(),
  type: 'thing.changed',
  source: '/trial',
  companyId: COMPANY,
  key: `k${offset}`,
  time: 1_772_380_800_000_001,
  sequence: undefined,
  version: offset,
  payload,
  topic: 'things',
  partition: 1,
  offset: String(offset),
  trace: undefined,
  requestId: undefined,
});
const NO_LIMIT = { events: 100, bytes: 1_000_000 };
const store = (consumer: string, of: IncomingEvent, reason = 'broken') => storeDeadLetter(setting.database, consumer, deadLetterOf(of), reason);
/** Stores the dead letter of a message that is no event. */
const storeNoEvent = (consumer: string) =>
  storeDeadLetter(setting.database, consumer, { topic: 'things', partition: 0, offset: '0', key: null, headers: { who: 'x' }, payload: null }, 'no event');
const stored = async (consumer: string) => await deadLettersAfter(setting.database, consumer, 0, NO_LIMIT);
const offsets = async (consumer: string) => (await stored(consumer)).map((letter) => letter.event.offset);

test('restores an event from its dead letter, with everything that it had', async () => {
  const whole = { ...event(7), sequence: 3, trace: '00-trace', requestId: randomUUID() };
  await store('billing', whole, 'x'.repeat(3000));
  await store('billing', event(8, null));
  const [first, second] = await stored('billing');
  expect(first).toEqual({ id: expect.any(Number), event: whole, reason: 'x'.repeat(2000) });
  expect(second!.event).toMatchObject({ offset: '8', payload: null });
});

test('stores an event once for each consumer', async () => {
  for (const consumer of ['billing', 'billing', 'reporting']) await store(consumer, event(1));
  await store('billing', { ...event(1), partition: 2 });
  expect([await offsets('billing'), await offsets('reporting')]).toEqual([['1', '1'], ['1']]);
});

test('takes the oldest dead letter of the consumer after an id, and none that holds no event', async () => {
  await store('reporting', event(1));
  await storeNoEvent('billing');
  for (const offset of [2, 3]) await store('billing', event(offset));
  const take = (after: number) => setting.database.transaction((tx) => takeDeadLetter(tx, 'billing', after));
  const first = await take(0);
  const second = await take(first!.id);
  expect([first?.event.offset, second?.event.offset, await take(second!.id)]).toEqual(['2', '3', undefined]);
  expect(await offsets('billing')).toEqual(['2', '3']);
});

test('lists, counts and deletes only dead letters of the consumer, oldest first', async () => {
  await store('reporting', event(1), 'of another consumer');
  await storeNoEvent('billing');
  for (const offset of [2, 3]) await store('billing', event(offset), `reason ${offset}`);
  const { events, count } = await listDeadLetters(setting.database, 'billing', 2);
  expect(events).toEqual([
    { topic: 'things', key: '', type: '', reason: 'no event', parked_at: expect.any(Number) },
    { topic: 'things', key: 'k2', type: 'thing.changed', reason: 'reason 2', parked_at: expect.any(Number) },
  ]);
  expect(count).toBe(3);
  const { rows } = await setting.database.query<{ id: number }>({ text: `select id from parked_event where log_offset <> 3` });
  await deleteDeadLetters(
    setting.database,
    'billing',
    rows.map(({ id }) => id),
  );
  expect([await offsets('billing'), await offsets('reporting')]).toEqual([['3'], ['1']]);
});

test.each([
  [0, 1],
  [1, 1],
  [2, 2],
])('lists at least one dead letter, asked for %i', async (limit, length) => {
  for (const offset of [1, 2, 3]) await store('billing', event(offset));
  const { listParkedEvents } = deadLetterHandlers(setting.database, undefined as unknown as Subscriber, 'billing');
  expect(await listParkedEvents({ limit }, undefined as never)).toMatchObject({ count: 3, events: { length } });
});

test('lists 1000 dead letters at most', async () => {
  await setting.database.query({
    text: `insert into parked_event (consumer, topic, partition, log_offset, headers, reason) select 'billing', 'things', 0, place, '{}', 'x' from generate_series(1, 1001) place`,
  });
  const { listParkedEvents } = deadLetterHandlers(setting.database, undefined as unknown as Subscriber, 'billing');
  expect(await listParkedEvents({ limit: 5000 }, undefined as never)).toMatchObject({ count: 1001, events: { length: 1000 } });
});

test('reads dead letters after an id within the limits of events and bytes, and a single one of any size', async () => {
  await store('reporting', event(0));
  for (const [offset, size] of [
    [1, 10],
    [2, 10],
    [3, 100],
    [4, 1],
  ] as const)
    await store('billing', event(offset, Buffer.alloc(size)));
  await store('billing', event(5, null));
  const ids = (await stored('billing')).map(({ id }) => id);
  const read = async (after: number, events: number, bytes: number) =>
    (await deadLettersAfter(setting.database, 'billing', after, { events, bytes })).map((letter) => letter.event.offset).join('');
  expect([await read(0, 9, 20), await read(0, 9, 19), await read(0, 1, 20), await read(0, 9, 1000)]).toEqual(['12', '1', '1', '12345']);
  expect([await read(ids[1]!, 9, 5), await read(ids[2]!, 9, 1), await read(ids[4]!, 9, 9)]).toEqual(['3', '45', '']);
});

test('reads no dead letters of companies that are frozen, and those of others', async () => {
  const frozen = randomUUID();
  await store('billing', { ...event(1), companyId: frozen });
  await store('billing', { ...event(2), companyId: 'no id' });
  await setting.database.query({ text: 'insert into frozen_companies (company_id) values ($1)', values: [frozen] });
  expect(await offsets('billing')).toEqual(['2']);
  await setting.database.query({ text: 'delete from frozen_companies' });
  expect(await offsets('billing')).toEqual(['1', '2']);
});

test('forgets dead letters of the consumer after its days, to the microsecond', async () => {
  await store('billing', event(1));
  await store('reporting', event(1));
  await setting.database.query({ text: 'update parked_event set parked_at = (select min(parked_at) from parked_event)' });
  const { rows } = await setting.database.query<{ at: number }>({ text: 'select parked_at as at from parked_event' });
  const clock = await pinClock(setting.server.url, SCHEMA);
  const forgottenAt = async (at: number) => {
    await clock.set(at);
    return await forgetDeadLetters(clock.database, 'billing', 14);
  };
  try {
    const end = rows[0]!.at + 14 * 86_400_000_000;
    expect([await forgottenAt(end), await forgottenAt(end + 1)]).toEqual([0, 1]);
  } finally {
    await clock.close();
  }
  expect([await offsets('billing'), await offsets('reporting')]).toEqual([[], ['1']]);
});
