// A company leaves: nothing that names it stays in a row, a topic of state or Redis, except for the entry of the audit trail.
import { randomUUID } from 'node:crypto';
import { topics } from '@truckroll/contract';
import { CompanyAdminServiceService, KeyAdminServiceService, UserAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { DeliveryServiceService } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { Database } from '@truckroll/postgres';
import { holdingLocks } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { account } from '../../services/scheduling/test/records.ts';
import { startReceiver, type Receiver } from '../../services/webhook-dispatcher/test/support/receiver.ts';
import { append } from '../../packages/outbox/src/index.ts';
import type { Json } from '../support/expected.ts';
import { startSystem, type System, type TestCompany } from '../support/system.ts';
import { fill, request, operatorsCommand } from './fill.ts';
import { messagesWith, redisKeysWith, rowsWith } from './search.ts';

const MINUTES = 60_000;
const NAME = 'Test Heating & Air';
const PLANTED = 'Quillfeather';

let system: System;
let receiver: Receiver;
let leaving: TestCompany;
let staying: TestCompany;

const command = (...args: string[]) => operatorsCommand(system, args);
const parsed = ({ stdout }: { stdout: string }): Json => JSON.parse(stdout) as Json;
const kafka = () => ({ brokers: system.serviceEnvironment['KAFKA_BROKERS']!, prefix: system.serviceEnvironment['KAFKA_PREFIX']! });

async function untilTrailHas(company: TestCompany): Promise<void> {
  const text = `select count(*) from integrations.audit_events where company_id = $1 and action = 'records.imported'`;
  await until(
    'the imports in the audit trail',
    async () => (await system.database.query<{ count: number }>({ text, values: [company.id] })).rows[0]?.count,
    (count) => (count ?? 0) > 5,
  );
}

beforeAll(async () => {
  receiver = await startReceiver((response) => void response.writeHead(204).end());
  system = await startSystem({ webhookAllowedTargets: [receiver.target] });
  await system.startDispatcher();
  [leaving, staying] = [await system.createCompany(), await system.createCompany()];
  await fill(system, receiver, leaving, PLANTED, 3);
  await fill(system, receiver, staying, 'Oldcastle', 4);
  await untilTrailHas(leaving);
  // Users who moved, whose keys stayed where they were before; of two of them also an endpoint.
  const users = system.channel('integrations').client(UserAdminServiceService);
  const keys = system.channel('integrations').client(KeyAdminServiceService);
  for (const [from, to, endpoints] of [
    [staying, leaving, 1],
    [leaving, staying, 1],
    [staying, leaving, 0],
  ] as const) {
    const { user } = await users.createUser({ company_id: from.id, email: `${randomUUID()}@example.com`, first_name: 'Robin', last_name: 'Mover' });
    await keys.createKey({ company_id: from.id, user_id: user!.id, name: 'of a user who moves', limits: null });
    await system.database.query({
      text: `insert into integrations.webhook_endpoints (id, company_id, created_by, name, url, event_types, enabled, secret)
        select gen_random_uuid(), $1, $2, 'of a user who moves', 'https://example.com', '{service_request.created}', false, '' from generate_series(1, $3)`,
      values: [from.id, user!.id, endpoints],
    });
    await users.moveUser({ id: user!.id, company_id: to.id });
  }
}, 3 * MINUTES);
afterAll(async () => {
  await system?.stop();
  await receiver?.close();
}, MINUTES);

test('refuses an unknown id and a wrong name, and a dry run only says what there is', async () => {
  const before = settled(await rowsWith(system.database, [leaving.id, PLANTED]));
  expect(await command('company', 'delete', randomUUID(), '--yes-delete', NAME)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no company'),
  });
  const wrong = await command('company', 'delete', leaving.id, '--yes-delete', 'Test Heating');
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('is called') });
  const dry = parsed(await command('company', 'delete', leaving.id));
  expect(dry).toMatchObject({ deleted: false, left: expect.arrayContaining([expect.objectContaining({ service: 'billing', table: 'invoices' })]) });
  const text = `select count(*)::int as rows from integrations.api_keys
    where company_id = $1 or user_id in (select id from integrations.users where company_id = $1)`;
  const [{ rows }] = (await system.database.query<{ rows: number }>({ text, values: [leaving.id] })).rows as [{ rows: number }];
  expect(dry).toMatchObject({ left: expect.arrayContaining([{ service: 'integrations', table: 'api_keys', rows }]) });
  expect(settled(await rowsWith(system.database, [leaving.id, PLANTED]))).toEqual(before);
  const deleted = await system.database.query({ text: `select 1 from integrations.audit_events where action = 'company.deleted'` });
  expect(deleted.rows).toEqual([]);
  expect((await system.get(leaving, '/v1/accounts?limit=1')).status).toBe(200);
});

test(
  'leaves one entry of the audit trail, and nothing of another company is missing',
  async () => {
    const others = await rowsWith(system.database, [staying.id]);
    const { code, stdout, stderr } = await command('company', 'delete', leaving.id.toUpperCase(), '--yes-delete', NAME);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const first = JSON.parse(stdout) as Json;
    expect(first).toMatchObject({ company_id: leaving.id, deleted: true });

    expect(await rowsWith(system.database, [leaving.id, PLANTED])).toEqual({ 'integrations.audit_events': 1 });
    const { rows } = await system.database.query({
      text: 'select action, object_id, actor_kind, before, after from integrations.audit_events where company_id = $1',
      values: [leaving.id],
    });
    expect(rows).toEqual([{ action: 'company.deleted', object_id: leaving.id, actor_kind: 'OPERATOR', before: null, after: null }]);
    const { state, kept } = await messagesWith(kafka(), [leaving.id, PLANTED]);
    expect(state).toEqual([]);
    expect(kept.map(({ topic, key }) => [topic, key])).toEqual([[topics.erasures.name, leaving.id]]);
    const seconds = await redisKeysWith(system.gatewayEnvironment['REDIS_URL']!, [leaving.id, PLANTED]);
    expect(seconds.filter((each) => each < 0 || each > 900)).toEqual([]);

    expect((await system.get(leaving, '/v1/accounts?limit=1')).status).toBe(401);
    // The user who made an endpoint of the other company stays there, without a name.
    const movers = `select u.first_name, u.active from integrations.webhook_endpoints e join integrations.users u on u.id = e.created_by
      where e.company_id = $1 and e.name = 'of a user who moves'`;
    expect((await system.database.query({ text: movers, values: [staying.id] })).rows).toEqual([{ first_name: 'Erased', active: false }]);
    // One key is deleted with its user, who made no endpoint.
    const after = await rowsWith(system.database, [staying.id]);
    const changed = ['integrations.api_keys', 'integrations.users'];
    const unchanged = (of: Record<string, number>): Json => Object.fromEntries(Object.entries(settled(of)).filter(([name]) => !changed.includes(name)));
    expect(unchanged(after)).toEqual(unchanged(others));
    expect(after['integrations.api_keys']).toBe(others['integrations.api_keys']! - 1);
    const kind = ({ body }: { body: Json }): string[] => (body['data'] as Json[]).map(({ name }) => name as string);
    expect(kind(await system.get(staying, '/v1/accounts?limit=1'))[0]).toContain('Oldcastle');

    // A second run says what the first one did, whatever name is given.
    expect(parsed(await command('company', 'delete', leaving.id))).toEqual(first);
    expect(parsed(await command('company', 'delete', leaving.id, '--yes-delete', 'any'))).toEqual(first);
  },
  2 * MINUTES,
);

test('stores nothing of a deleted company again', async () => {
  const admin = system.channel('integrations').client(CompanyAdminServiceService);
  await expect(admin.createCompany({ id: leaving.id, name: NAME, timezone: leaving.timezone })).rejects.toMatchObject({ status: 409 });
  await expect(system.importRecords(leaving, 'accounts', [account()])).rejects.toMatchObject({ status: 409 });
  await expect(request(system, leaving, PLANTED)).rejects.toMatchObject({ status: 409 });
  // Events that arrive late, as the relay of a replica that was away for long publishes them.
  const direct = new Database({ url: system.serviceEnvironment['DATABASE_URL']!, schema: 'scheduling', maxConnections: 1 });
  const late = randomUUID();
  await direct.transaction((tx) =>
    append(tx, [
      { topic: topics.names.name, key: `${leaving.id}/accounts/${late}`, type: 'name.changed', companyId: leaving.id, payload: Buffer.from(PLANTED) },
      { topic: topics.schedulingAudit.name, key: `${leaving.id}/${late}`, type: 'audit.entry', companyId: leaving.id, payload: Buffer.from(PLANTED) },
      { topic: topics.names.name, key: `${staying.id}/accounts/${late}`, type: 'name.removed', companyId: staying.id, payload: null },
    ]),
  );
  const deliveries = system.channel('integrations').client(DeliveryServiceService);
  await deliveries.setAside({ letters: [letterOf(leaving.id)] });
  // The other company's event in the same partition or not: all three were published when the outbox is empty, and applied when the group has read on.
  await until(
    'the other company’s event in reporting and billing',
    async () => {
      const text = `select consumer from billing.inbox_version where key = $1 union all select consumer from reporting.inbox_version where key = $1`;
      return (await direct.query({ text, values: [`${staying.id}/accounts/${late}`] })).rowCount;
    },
    (count) => count === 2,
  );
  await direct.close();
  expect(await rowsWith(system.database, [leaving.id, PLANTED])).toEqual({ 'integrations.audit_events': 1 });
});

test(
  'goes on after an interruption, and needs the name no more',
  async () => {
    const company = await system.createCompany();
    await system.importDemo(company, 5, 3);
    const admin = system.channel('integrations').client(CompanyAdminServiceService);
    await system.stopService('billing');
    // As for a replica of an earlier release, nothing but its user and key says that the company has no access any more.
    const closed = await holdingLocks({ url: system.serviceEnvironment['DATABASE_URL']! }, async (holder) => {
      // Its row cannot be removed, and so none of its users and keys.
      await holder.run('select from integrations.companies where id = $1 for key share', [company.id]);
      await Promise.all([1, 2].map(() => admin.deleteCompany({ id: company.id, name: NAME })));
      const text = `select (select bool_or(active) from integrations.users where company_id = $1) as active,
        (select bool_and(revoked_at is not null) from integrations.api_keys where company_id = $1) as revoked`;
      const { rows } = await system.database.query({ text, values: [company.id] });
      expect((await system.get(company, '/v1/accounts?limit=1')).status).toBe(401);
      return rows;
    });
    expect(closed).toEqual([{ active: false, revoked: true }]);
    expect(await command('company', 'delete', company.id)).toMatchObject({ code: 3, stderr: expect.stringContaining('billing') });
    await system.startService('billing');
    // The connections of this process take a moment to notice that billing is back.
    const resumed = await until(
      'the end of the deletion',
      () => command('company', 'delete', company.id),
      ({ code, stderr }) => {
        if (code !== 0) expect(stderr).toMatch(/billing at .* does not answer/);
        return code === 0;
      },
    );
    expect(parsed(resumed)).toMatchObject({ company_id: company.id, deleted: true });
    expect(await rowsWith(system.database, [company.id])).toEqual({ 'integrations.audit_events': 1 });
  },
  2 * MINUTES,
);

/** Without tables that change for a while after the last import: reporting's sums, and the trail and the log of requests, to which entries are sent later. */
function settled(found: Record<string, number>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(found).filter(([name]) => !/^(integrations\.(audit_events|request_log)|reporting\.(summed|due_.*|.*_(sums|crosses)))$/.test(name)),
  );
}

function letterOf(companyId: string) {
  return {
    id: 0,
    topic: topics.serviceRequests.name,
    partition: 0,
    log_offset: '1',
    event_id: randomUUID(),
    type: 'service_request.new',
    source: '/truckroll/scheduling',
    company_id: companyId,
    key: `${companyId}/${randomUUID()}`,
    time: 0,
    version: 1,
    payload: Buffer.from(PLANTED),
    reason: 'unknown',
  };
}
