// A service says what an erasure waits for: its own work, or a transaction that may have stored the name before.
import type { PersonErasure } from '@truckroll/contract/gen/records/v1/erasures';
import { silentLog } from '@truckroll/telemetry';
import { openFreshDatabase } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import type { ErasureOptions, PersonStep } from '../../packages/erasure/src/options.ts';
import { eraseNext, people } from '../../packages/erasure/src/people.ts';
import { markPersonErased } from '../../packages/outbox/src/index.ts';
import { schema } from '../../services/reporting/src/schema.ts';

const ID = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const SENDING = 'other work that changes its table mails';

test('says what an erasure waits for, until it ends', async () => {
  const { database, close } = await openFreshDatabase(schema);
  let sending = true;
  const mails: PersonStep = { table: 'mails', next: async () => ({ changed: 0, waits: sending, after: null }) };
  const names: PersonStep = { table: 'names', next: async () => ({ changed: 0, after: null }) };
  const restored = { schema: '', states: [], groups: [] };
  const own = { steps: [mails, names] };
  const options: ErasureOptions = { database, catchUp: undefined as never, log: silentLog, restored, kinds: [], people: own, poke: () => undefined };
  const { getPerson } = people(options, { look: () => undefined }, () => undefined);
  const asked = getPerson as unknown as (request: unknown) => Promise<{ erasure: PersonErasure }>;
  const state = async (): Promise<PersonErasure> => (await asked({ company_id: ID, kind: 'accounts', id: ID })).erasure;
  const work = async (): Promise<void> => {
    while (await eraseNext(options));
  };

  await markPersonErased(database, { companyId: ID, kind: 'accounts', id: ID, askedAt: 1 });
  expect((await state()).waits_for).toBeNull();
  await database.transaction(async (tx) => {
    await tx.query({ text: 'select 1' });
    await work();
    expect((await state()).waits_for).toBe(SENDING);
    const transaction = 'a transaction of its database role that began before its last change';
    await until('the transaction', state, ({ waits_for: waits }) => waits === transaction);
  });
  expect((await state()).waits_for).toBe(SENDING);
  sending = false;
  await work();
  expect(await state()).toMatchObject({ waits_for: null, ended_at: expect.any(Number) });
  await close();
}, 60_000);

test('reads a large table once, in a last round in which nothing else was found', async () => {
  const { database, close } = await openFreshDatabase(schema);
  const done: string[] = [];
  const step = (table: string, changed: number[], once = false): PersonStep => ({
    table,
    once,
    next: async () => (done.push(table), { changed: changed.shift() ?? 0, after: null }),
  });
  const steps = [step('mails', [1, 1]), step('trail', [5], true)];
  const restored = { schema: '', states: [], groups: [] };
  const options: ErasureOptions = { database, catchUp: undefined as never, log: silentLog, restored, kinds: [], people: { steps }, poke: () => undefined };
  const work = async (): Promise<void> => {
    while (await eraseNext(options));
  };
  await markPersonErased(database, { companyId: ID, kind: 'accounts', id: ID, askedAt: 1 });
  await work();
  for (const order of ['mails mails', 'mails mails mails trail']) {
    await database.query({ text: `update erased_people set changed_at = changed_at - interval '7 seconds', round_at = round_at - interval '7 seconds'` });
    await work();
    expect(done.join(' ')).toBe(order);
  }
  const { rows } = await database.query({ text: 'select changed, ended_at is not null as ended from erased_people' });
  expect(rows).toEqual([{ changed: { mails: 2, trail: 5 }, ended: true }]);
  await close();
}, 60_000);
