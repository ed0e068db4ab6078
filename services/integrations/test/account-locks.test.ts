// Each test fails without its lock, or with another order of locks.
import { hashApiKey } from '@truckroll/contract';
import { holdingLocks, type LockHolder } from '@truckroll/testing';
import { listen, startHarness } from './harness.ts';

let harness: Awaited<ReturnType<typeof startHarness>>;
let gateway: Awaited<ReturnType<typeof listen>>;
beforeAll(async () => {
  harness = await startHarness();
  gateway = await listen();
}, 60_000);
afterAll(async () => {
  gateway.close();
  await harness.stop();
});

const holding = <T>(work: (holder: LockHolder) => Promise<T>): Promise<T> => holdingLocks({ url: harness.database.url, schema: 'integrations' }, work);

async function oneBehindTheOther<A, B>(table: string, first: () => Promise<A>, second: () => Promise<B>) {
  return holding(async (holder) => {
    await holder.run(`lock table ${table} in share mode`);
    const one = first();
    await holder.waiting(1, one);
    const other = second();
    await holder.waiting(2, other);
    await holder.rollback();
    return Promise.allSettled([one, other]);
  });
}

async function account() {
  const company = await harness.company();
  const user = await harness.user(company.id);
  return { company, user, caller: { company_id: company.id, time_zone: 'America/Chicago', user_id: user.id } };
}

const NOT_FOUND = { status: 'rejected', reason: { status: 404 } };
const LIMIT_REACHED = { status: 'rejected', reason: { code: 'LIMIT_REACHED' } };

test('a move does not reactivate a user that another call is deactivating', async () => {
  const [{ user }, other] = [await account(), await harness.company()];
  const outcomes = await oneBehindTheOther(
    'users',
    () => harness.users.deactivateUser({ id: user.id }),
    () => harness.users.moveUser({ id: user.id, company_id: other.id }),
  );
  expect(outcomes).toMatchObject([{ status: 'fulfilled' }, { status: 'fulfilled', value: { user: { company_id: other.id, active: false } } }]);
});

describe('creation waits for the deactivation of its user', () => {
  type Account = Awaited<ReturnType<typeof account>>;
  const calls: Record<string, (of: Account) => Promise<unknown>> = {
    'of a key by an operator': ({ company, user }) => harness.keys.createKey({ company_id: company.id, user_id: user.id, name: 'x', limits: null }),
    'of a key by the user': ({ caller }) => harness.apiKeys.createApiKey({ caller, name: 'x' }),
    'of an endpoint': ({ caller }) =>
      harness.webhooks.createWebhook({ caller, name: 'x', url: 'https://example.com/hook', event_types: ['service_request.created'] }),
  };

  test.each(Object.keys(calls))('%s', async (name) => {
    const of = await account();
    const [outcome] = await holding(async (holder) => {
      await holder.run('update users set active = false where id = $1', [of.user.id]);
      const call = calls[name]!(of);
      await holder.waiting(1, call);
      await holder.commit();
      return Promise.allSettled([call]);
    });
    expect(outcome).toMatchObject(NOT_FOUND);
  });
});

describe('a company that may have one more', () => {
  test('key creates one of two at once', async () => {
    const { company, caller } = await account();
    await harness.companies.updateCompany({ id: company.id, key_limit: 1 });
    const create = () => harness.apiKeys.createApiKey({ caller, name: 'x' });
    expect(await oneBehindTheOther('api_keys', create, create)).toMatchObject([{ status: 'fulfilled' }, LIMIT_REACHED]);
  });

  test('endpoint creates one of two at once', async () => {
    const { company, caller } = await account();
    await harness.companies.updateCompany({ id: company.id, webhook_endpoint_limit: 1 });
    const create = () => harness.webhooks.createWebhook({ caller, name: 'x', url: 'https://example.com/hook', event_types: ['service_request.created'] });
    expect(await oneBehindTheOther('webhook_endpoints', create, create)).toMatchObject([{ status: 'fulfilled' }, LIMIT_REACHED]);
  });
});

test('audits the later of two concurrent changes of a company with the state after the first', async () => {
  const company = await harness.company('Before');
  const rename = (name: string) => () => harness.companies.updateCompany({ id: company.id, name });
  await oneBehindTheOther('companies', rename('First'), rename('Second'));
  const entries = await holding((holder) =>
    holder.run(`select before, after from audit_events where object_id = $1 and action = 'company.updated'`, [company.id]),
  );
  const names = entries.map(({ before, after }) => [before, after].map((text) => (JSON.parse(String(text)) as { name: string }).name));
  expect(names.toSorted()).toEqual([
    ['Before', 'First'],
    ['First', 'Second'],
  ]);
});

test.each([
  ['that began before', '', 'run `truckroll company unfreeze` first'],
  ['of a move', `insert into moves (company_id, arrives, other, step) values ($1, false, 'west', 'closing')`, 'is being moved'],
])('a person of a company is not erased after a freeze %s', async (_, moves, says) => {
  const company = await harness.company();
  await holding(async (holder) => {
    await holder.run('select from companies where id = $1 for no key update', [company.id]);
    await holder.run('insert into frozen_companies (company_id) values ($1)', [company.id]);
    if (moves !== '') await holder.run(moves, [company.id]);
    const call = harness.companies.erasePerson({ company_id: company.id, kind: 'accounts', id: company.id });
    await holder.waiting(1, call);
    await holder.commit();
    await expect(call).rejects.toMatchObject({ status: 409, message: expect.stringContaining(says) });
  });
});

describe('a key', () => {
  async function issued() {
    const { company, user, caller } = await account();
    const { key } = await harness.keys.createKey({ company_id: company.id, user_id: user.id, name: 'x', limits: null });
    return { id: key!.id, caller };
  }
  const messageOf = (value: string): string => `key:${hashApiKey(value).toString('hex')}`;

  test('cannot be rotated by an operator during its revocation', async () => {
    const { id } = await issued();
    const outcomes = await oneBehindTheOther(
      'api_keys',
      () => harness.keys.revokeKey({ id }),
      () => harness.keys.rotateKey({ id }),
    );
    expect(outcomes).toMatchObject([{ status: 'fulfilled' }, NOT_FOUND]);
  });

  test('cannot be rotated by its user during its deletion', async () => {
    const { id, caller } = await issued();
    const outcomes = await oneBehindTheOther(
      'api_keys',
      () => harness.apiKeys.deleteApiKey({ caller, id }),
      () => harness.apiKeys.rotateApiKey({ caller, id }),
    );
    expect(outcomes).toMatchObject([{ status: 'fulfilled' }, NOT_FOUND]);
  });

  test('rotated twice at once by an operator: gateways forget the value of the first rotation too', async () => {
    const { id } = await issued();
    const rotate = async () => (await harness.keys.rotateKey({ id })).value;
    const [first] = await oneBehindTheOther('api_keys', rotate, rotate);
    await gateway.receives(messageOf((first as PromiseFulfilledResult<string>).value));
  });

  test('rotated twice at once by its user: gateways forget the value of the first rotation too', async () => {
    const { id, caller } = await issued();
    const rotate = async () => (await harness.apiKeys.rotateApiKey({ caller, id })).data!.key;
    const [first] = await oneBehindTheOther('api_keys', rotate, rotate);
    await gateway.receives(messageOf((first as PromiseFulfilledResult<string>).value));
  });
});
