import { hashApiKey } from '@truckroll/contract';
import { createSession } from '@truckroll/postgres';
import { until } from '@truckroll/testing/until';
import { listen, refusal, startHarness } from './harness.ts';

let harness: Awaited<ReturnType<typeof startHarness>>;
let gateway: Awaited<ReturnType<typeof listen>>;
beforeAll(async () => {
  harness = await startHarness();
  gateway = await listen();
});
afterAll(async () => {
  gateway.close();
  await harness.stop();
});

async function issued() {
  const company = await harness.company();
  const user = await harness.user(company.id);
  const { key, value } = await harness.keys.createKey({ company_id: company.id, user_id: user.id, name: 'x', limits: null });
  return { company, user, key: key!, message: `key:${hashApiKey(value).toString('hex')}` };
}

async function pendingCount(): Promise<number> {
  const session = await createSession({ url: harness.database.url, schema: 'integrations' });
  const { rowCount } = await session.query({ text: 'select from pending_invalidations' });
  await session.close();
  return rowCount;
}

test('acknowledges a revocation only after publishing it to the gateways', async () => {
  const { company, user, key, message } = await issued();
  const epoch = await gateway.epoch();
  await harness.keys.revokeKey({ id: key.id });
  await harness.users.deactivateUser({ id: user.id });
  await harness.companies.updateCompany({ id: company.id, name: 'Renamed' });
  await gateway.receives(`company:${company.id}`);
  const own = [message, `user:${user.id}`, `company:${company.id}`];
  // A polling replica may publish an invalidation again while it is being removed.
  expect([...new Set(gateway.received.filter((message) => own.includes(message)))]).toEqual(own);
  expect(await gateway.epoch()).not.toBe(epoch);
  expect(await pendingCount()).toBe(0);
});

test.each<[string, (key: { id: string; company_id: string; user_id: string }) => Promise<unknown>]>([
  ['its operator rotates', ({ id }) => harness.keys.rotateKey({ id })],
  ['its company rotates', ({ id, ...caller }) => harness.apiKeys.rotateApiKey({ caller: { ...caller, time_zone: 'UTC' }, id })],
  ['its company deletes', ({ id, ...caller }) => harness.apiKeys.deleteApiKey({ caller: { ...caller, time_zone: 'UTC' }, id })],
])('publishes the value of a key that %s, which gateways may have cached', async (_, change) => {
  const { company, user, key, message } = await issued();
  await change({ id: key.id, company_id: company.id, user_id: user.id });
  await gateway.receives(message);
});

test('publishes a user who moves to another company', async () => {
  const { user } = await issued();
  await harness.users.moveUser({ id: user.id, company_id: (await harness.company()).id });
  await gateway.receives(`user:${user.id}`);
});

test('answers a revocation that is published, even if its invalidation cannot be removed and is published again', async () => {
  const { key, message } = await issued();
  const session = await createSession({ url: harness.database.url, schema: 'integrations' });
  try {
    await session.query({
      text: `create function refuse_removal() returns trigger language plpgsql as $$ begin raise exception 'refused by a test'; end $$`,
    });
    await session.query({ text: 'create trigger refuses before delete on pending_invalidations for each row execute function refuse_removal()' });
    expect((await harness.keys.revokeKey({ id: key.id })).key).toMatchObject({ state: 'KEY_STATE_REVOKED' });
    await gateway.receives(message);
    expect(await pendingCount()).toBe(1);
  } finally {
    await session.query({ text: 'drop function refuse_removal cascade' });
    await session.close();
  }
  await until('no invalidation to be pending', pendingCount, (count) => count === 0);
  expect(gateway.received.filter((each) => each === message).length).toBeGreaterThan(1);
});

test('without Redis, records the change, reports so, and publishes the invalidation when Redis returns', async () => {
  const { company, key, message } = await issued();
  await harness.wire.cut();
  const error = await refusal(harness.keys.revokeKey({ id: key.id }));
  expect(error).toMatchObject({ status: 503, code: 'INTERNAL_ERROR', retryAfterSeconds: 5 });
  expect(error.message).toMatch(/^The change is recorded, but Redis does not answer/);
  expect((await harness.keys.listKeys({ company_id: company.id })).keys[0]?.state).toBe('KEY_STATE_REVOKED');
  expect(gateway.received).not.toContain(message);
  await harness.wire.restore();
  await gateway.receives(message);
});

test('publishes invalidations that a dead process had committed and not published', async () => {
  const { key, message } = await issued();
  await harness.wire.cut();
  await refusal(harness.keys.revokeKey({ id: key.id }));
  await harness.restart();
  await harness.wire.restore();
  await gateway.receives(message);
});

test('publishes invalidations that another replica announced and stored before it died', async () => {
  const subject = `key:${'0'.repeat(64)}`;
  // Without the announcement it would be found by the poll once a minute, which is the time limit of this test.
  const session = await createSession({ url: harness.database.url, schema: 'integrations' });
  const received = new Promise<void>((resolve) => session.onNotification(() => resolve()));
  await session.query({ text: 'listen integrations_invalidations' });
  const { key } = await issued();
  await harness.keys.revokeKey({ id: key.id });
  await received;
  await session.query({ text: 'insert into pending_invalidations (subject) values ($1)', values: [subject] });
  await session.close();
  await gateway.receives(subject);
});

test('publishes nothing for a refused change', async () => {
  const { user } = await issued();
  const before = gateway.received.length;
  await refusal(harness.users.moveUser({ id: user.id, company_id: user.id }));
  const last = await issued();
  await harness.keys.revokeKey({ id: last.key.id });
  await gateway.receives(last.message);
  expect(gateway.received.slice(before)).not.toContain(`user:${user.id}`);
});
