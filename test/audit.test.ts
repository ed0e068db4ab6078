// The audit trail as a company and an operator read it (decisions §15), with all services, PostgreSQL and Kafka.
import { randomUUID } from 'node:crypto';
import { now } from '@truckroll/contract';
import { ParkingServiceService } from '@truckroll/contract/gen/events/v1/parking';
import { CompanyAdminServiceService, KeyAdminServiceService, UserAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { AuditAdminServiceService } from '@truckroll/contract/gen/integrations/v1/audit';
import { ProjectionServiceService } from '@truckroll/contract/gen/records/v1/projections';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { ServiceRequestChannel } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { newOperatorCredential, openChannel, type Channel } from '@truckroll/grpc';
import { Database } from '@truckroll/postgres';
import { until } from '@truckroll/testing/until';
import { purgeAuditEvents } from '../services/integrations/src/audit/store.ts';
import { dispatchDesk, type DispatchDesk } from './support/dispatch.ts';
import { startSystem, type System, type TestCompany } from './support/system.ts';
import { CREATE, HOOKS, webhooksApi, type WebhooksApi } from './support/webhooks-api.ts';

const TRAIL = '/api/v1/integrations/audit-events';
const KEYS = '/api/v1/integrations/api-keys';
const NO_COMPANY = '00000000-0000-0000-0000-000000000000';
const DAY = 86_400_000_000;
const COMMANDS = ['parking.retry_parked_events', 'projection.reproject'];
const ANA = { kind: 'OPERATOR', id: 'ana', name: 'ana' };

let system: System;
let company: TestCompany;
let other: TestCompany;
let desk: DispatchDesk;
let api: WebhooksApi;
let user: object;
let ana: Record<'integrations' | 'scheduling' | 'reporting', Channel>;
let stored: Database;
const secrets: string[] = [];

beforeAll(async () => {
  const credential = newOperatorCredential('ana');
  system = await startSystem({ operators: [credential] });
  desk = await dispatchDesk(system);
  company = desk.company;
  other = await system.createCompany();
  api = webhooksApi(system, company);
  user = { kind: 'USER', id: company.userId, name: 'Ada Ortiz' };
  const open = (owner: string): Channel => openChannel(system.gatewayEnvironment[`${owner}_ADDRESS`] ?? '', { credentials: [credential] });
  ana = { integrations: open('INTEGRATIONS'), scheduling: open('SCHEDULING'), reporting: open('REPORTING') };
  stored = new Database({ url: system.serviceEnvironment['DATABASE_URL'] ?? '', schema: 'integrations', maxConnections: 1 });
}, 120_000);
afterAll(async () => {
  for (const channel of Object.values(ana)) channel.close();
  await stored.close();
  await system.stop();
});

interface Listed {
  id: string;
  at: string;
  actor: object;
  action: string;
  object: { kind: string; id: string };
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  requestId: string;
  address: string | null;
}

async function events(query = '', credential?: string): Promise<Listed[]> {
  const all: Listed[] = [];
  for (let cursor = ''; ; ) {
    const { status, body } = await api.call('GET', `${TRAIL}?limit=100${query}${cursor}`, undefined, credential);
    expect(status).toBe(200);
    all.push(...(body.data as Listed[]));
    if (body.pagination.nextCursor === null) return all;
    cursor = `&cursor=${body.pagination.nextCursor as string}`;
  }
}

const about = async (id: string, credential?: string): Promise<Listed[]> => (await events('', credential)).filter(({ object }) => object.id === id).reverse();

const actions = (listed: readonly Listed[]): string[] => listed.map(({ action }) => action);

describe('the audit trail', () => {
  test('shows what a user does with a key, without the key', async () => {
    const created = (await api.call('POST', KEYS, { name: 'Nightly export' })).body.data;
    const rotated = (await api.call('POST', `${KEYS}/${created.id}/rotate`)).body.data;
    await api.call('DELETE', `${KEYS}/${created.id}`);
    secrets.push(created.key, rotated.key);

    const listed = await about(created.id);
    expect(actions(listed)).toEqual(['api_key.created', 'api_key.rotated', 'api_key.revoked']);
    for (const event of listed)
      expect(event).toMatchObject({
        actor: user,
        object: { kind: 'api-keys' },
        address: expect.stringMatching(/127\.0\.0\.1$/),
        requestId: expect.any(String),
      });
    const { key: _, ...shown } = created;
    expect([listed[0]?.before, listed[0]?.after]).toEqual([null, shown]);
    expect([listed[1]?.before?.['keySuffix'], listed[1]?.after?.['keySuffix']]).toEqual([created.keySuffix, rotated.keySuffix]);
    expect([listed[2]?.before?.['name'], listed[2]?.after]).toEqual(['Nightly export', null]);
  });

  test('shows what a user does with a webhook endpoint, without its secrets', async () => {
    const created = await api.endpoint();
    const path = `${HOOKS}/${created.id}`;
    await api.call('PATCH', path, { name: 'Renamed', url: 'https://example.com/other' });
    const rotated = (await api.call('POST', `${path}/rotate-secret`)).body.data;
    await api.call('POST', `${path}/test`);
    await api.call('POST', `${path}/recover`, { since: '2026-03-01T00:00:00Z' });
    await api.call('DELETE', path);
    secrets.push(created.signingSecret, rotated.signingSecret);

    const listed = await about(created.id);
    expect(actions(listed).map((action) => action.replace('webhook.', ''))).toEqual(['created', 'updated', 'secret_rotated', 'tested', 'recovered', 'deleted']);
    for (const event of listed) expect(event).toMatchObject({ actor: user, object: { kind: 'webhooks' }, address: expect.any(String) });
    expect(listed[0]).toMatchObject({ before: null, after: { ...CREATE, enabled: true } });
    const updatedAt = expect.any(String);
    expect(listed[1]).toMatchObject({
      before: { name: CREATE.name, url: CREATE.url, updatedAt },
      after: { name: 'Renamed', url: 'https://example.com/other', updatedAt },
    });
    expect([listed[1]?.before, listed[1]?.after].map((state) => Object.keys(state ?? {}).length)).toEqual([3, 3]);
    expect(listed[5]).toMatchObject({ before: { name: 'Renamed' }, after: null });
  });

  test('names the operator of every change to a company, a user or a key', async () => {
    const [companies, users, keys] = [CompanyAdminServiceService, UserAdminServiceService, KeyAdminServiceService].map((service) =>
      ana.integrations.client(service as typeof CompanyAdminServiceService),
    ) as unknown as [any, any, any];
    const { company: made } = await companies.createCompany({ name: 'Second Shop', timezone: 'America/Denver' });
    await companies.updateCompany({ id: made.id, name: 'Third Shop' });
    const person = { company_id: made.id, email: 'bo@example.com', first_name: 'Bo', last_name: 'Lee' };
    const { user: bo } = await users.createUser(person);
    const { key, value } = await keys.createKey({ company_id: made.id, user_id: bo.id, name: 'Export', limits: null });
    const { value: second } = await keys.rotateKey({ id: key.id });
    secrets.push(value, second);
    const reader: TestCompany = { ...company, id: made.id, userId: bo.id };

    await keys.createKey({ company_id: made.id, user_id: bo.id, name: 'Second', limits: null }).then((answer: any) => secrets.push(answer.value));
    const credential = system.userToken(reader);
    await keys.revokeKey({ id: key.id });
    const listed = (await events('', credential)).reverse();
    expect(actions(listed)).toEqual([
      'company.created',
      'company.updated',
      'user.created',
      'api_key.created',
      'api_key.rotated',
      'api_key.created',
      'api_key.revoked',
    ]);
    for (const event of listed) expect(event).toMatchObject({ actor: ANA, address: null, requestId: expect.any(String) });
    expect(listed[1]).toMatchObject({ object: { kind: 'company', id: made.id }, before: { name: 'Second Shop' }, after: { name: 'Third Shop' } });
    expect(listed[2]).toMatchObject({ object: { kind: 'users', id: bo.id }, before: null, after: { email: 'bo@example.com' } });
    expect(listed[6]).toMatchObject({ before: { revokedAt: null }, after: { revokedAt: expect.any(String) } });

    const { user: cy } = await users.createUser({ ...person, email: 'cy@example.com' });
    await users.moveUser({ id: cy.id, company_id: other.id });
    await users.deactivateUser({ id: cy.id });
    expect(actions(await about(cy.id, credential))).toEqual(['user.created', 'user.left']);
    const joined = await about(cy.id, system.userToken(other));
    expect(actions(joined)).toEqual(['user.joined', 'user.deactivated']);
    expect(JSON.stringify(joined)).not.toContain(made.id);
  });

  test('stores an entry in the transaction of its change', async () => {
    const seen: string[] = [];
    const look = async (table: string, id: string): Promise<void> => {
      const { rows } = await stored.query<{ action: string; together: boolean }>({
        text: `select e.action, e.xmin::text = r.xmin::text as together from audit_events e join ${table} r on r.id::text = e.object_id
          where r.id = $1 order by e.at desc limit 1`,
        values: [id],
      });
      seen.push(`${rows[0]?.action} ${rows[0]?.together}`);
    };
    const key = (await api.call('POST', KEYS, { name: 'Short-lived' })).body.data;
    await look('api_keys', key.id);
    await api.call('POST', `${KEYS}/${key.id}/rotate`);
    await look('api_keys', key.id);
    await api.call('DELETE', `${KEYS}/${key.id}`);
    await look('api_keys', key.id);

    const endpoint = await api.endpoint();
    await look('webhook_endpoints', endpoint.id);
    await api.call('PATCH', `${HOOKS}/${endpoint.id}`, { name: 'Renamed' });
    await look('webhook_endpoints', endpoint.id);
    await api.call('POST', `${HOOKS}/${endpoint.id}/rotate-secret`);
    await look('webhook_endpoints', endpoint.id);
    await api.call('DELETE', `${HOOKS}/${endpoint.id}`);
    await look('webhook_endpoints', endpoint.id);

    const companies = ana.integrations.client(CompanyAdminServiceService);
    const users = ana.integrations.client(UserAdminServiceService);
    const keys = ana.integrations.client(KeyAdminServiceService);
    const made = (await companies.createCompany({ name: 'Fourth Shop', timezone: 'America/Denver' })).company!;
    await look('companies', made.id);
    await companies.updateCompany({ id: made.id, name: 'Fifth Shop' });
    await look('companies', made.id);
    const person = { company_id: made.id, email: 'di@example.com', first_name: 'Di', last_name: 'Roy' };
    const di = (await users.createUser(person)).user!;
    await look('users', di.id);
    const operators = (await keys.createKey({ company_id: made.id, user_id: di.id, name: 'Export', limits: null })).key!;
    await look('api_keys', operators.id);
    await keys.rotateKey({ id: operators.id });
    await look('api_keys', operators.id);
    await keys.revokeKey({ id: operators.id });
    await look('api_keys', operators.id);
    await users.moveUser({ id: di.id, company_id: other.id });
    await look('users', di.id);
    await users.deactivateUser({ id: di.id });
    await look('users', di.id);

    expect(seen).toEqual(
      [
        ...['api_key.created', 'api_key.rotated', 'api_key.revoked'],
        ...['webhook.created', 'webhook.updated', 'webhook.secret_rotated', 'webhook.deleted'],
        ...['company.created', 'company.updated', 'user.created', 'api_key.created', 'api_key.rotated', 'api_key.revoked'],
        ...['user.joined', 'user.deactivated'],
      ].map((action) => `${action} true`),
    );
  });

  test('shows both scheduling writes, once each, with the key that made them', async () => {
    const visit = await desk.visit();
    const added = await desk.add(visit);
    const [assignment] = added.body['data'].assignments;
    const key = randomUUID();
    const removal = await desk.remove(assignment.id, added.body['data'].revision, { key });
    expect([added.status, removal.status]).toEqual([201, 200]);
    await desk.remove(assignment.id, added.body['data'].revision, { key });

    await until(
      'both writes in the trail',
      () => about(assignment.id),
      ({ length }) => length >= 2,
    );
    const listed = await about(assignment.id);
    expect(actions(listed)).toEqual(['assignment.added', 'assignment.removed']);
    for (const event of listed) {
      expect(event).toMatchObject({
        actor: { kind: 'KEY', id: expect.any(String), name: 'tests' },
        object: { kind: 'job-assignments' },
        address: expect.stringMatching(/127\.0\.0\.1$/),
      });
    }
    expect([listed[0]?.before, listed[0]?.after]).toEqual([null, assignment]);
    expect([listed[1]?.before, listed[1]?.after]).toEqual([assignment, null]);
    expect(listed[0]?.requestId).toBe(added.headers.get('x-request-id'));
  });

  test('does not show a write that was refused', async () => {
    const visit = await desk.visit();
    const first = await desk.add(visit);
    expect((await desk.add(visit)).status).toBe(409);
    const added = () => events('&action=assignment.added');
    await until('the first write in the trail', added, (listed) => listed.some(({ after }) => after?.['appointment_id'] === visit['id']));
    // The trail is in order, so once this removal shows, an entry for the refused write would show, too.
    await desk.remove(first.body['data'].assignments[0].id, first.body['data'].revision);
    const removed = () => events('&action=assignment.removed');
    await until('the removal in the trail', removed, (listed) => listed.some(({ before }) => before?.['appointment_id'] === visit['id']));
    expect((await events('&action=assignment.added')).filter(({ after }) => after?.['appointment_id'] === visit['id'])).toHaveLength(1);
  });

  test('shows an import with the records it stored', async () => {
    const since = new Date().toISOString();
    await desk.store('team-members', desk.member());
    const imports = () => events(`&from=${since}&action=records.imported`);
    await until('the import in the trail', imports, (listed) => listed.some(({ object }) => object.id === 'team-members'));
    const [event] = await events(`&from=${since}&action=records.imported`);
    expect(event).toMatchObject({
      actor: { kind: 'OPERATOR', name: 'operator' },
      object: { kind: 'imports', id: 'team-members' },
      before: null,
      after: { firstLine: 1, lines: 1, created: 1, changed: 0, unchanged: 0 },
      address: null,
    });
  });

  test('shows which of a company’s data an operator read, and nothing of intake', async () => {
    const intake = ana.scheduling.client(IntakeServiceService);
    await intake.recordServiceRequest({ company_id: company.id, id: randomUUID(), channel: ServiceRequestChannel.PHONE, summary: 'a private matter' });
    await ana.integrations.client(KeyAdminServiceService).listKeys({ company_id: company.id });
    const listed = await until(
      'an event of ana',
      () => events('&actor=ana'),
      ({ length }) => length >= 1,
    );
    expect(listed).toMatchObject([
      { action: 'key_admin.list_keys', object: { kind: 'services', id: 'integrations' }, actor: ANA, before: null, after: null, address: null },
    ]);
    expect(JSON.stringify(await events('', system.userToken(other)))).not.toContain('list_keys');
  });

  test('shows an operator the commands that concern no company, for every service', async () => {
    await ana.integrations.client(ParkingServiceService).retryParkedEvents({});
    await ana.reporting.client(ParkingServiceService).retryParkedEvents({});
    for await (const _ of ana.scheduling.client(ProjectionServiceService).reproject({ path: 'tags' }));
    const admin = ana.integrations.client(AuditAdminServiceService);
    const listed = async () =>
      (await admin.listAuditTrail({ company_id: NO_COMPANY, actor: ['ana'], action: COMMANDS, limit: 100, after: Buffer.alloc(0) })).events.map(
        ({ event }) => `${event?.action ?? ''} ${event?.object?.id ?? ''}`,
      );
    await until('three commands in the trail', listed, ({ length }) => length >= 3);
    expect((await listed()).toSorted()).toEqual([
      'parking.retry_parked_events integrations',
      'parking.retry_parked_events reporting',
      'projection.reproject scheduling',
    ]);
    expect(JSON.stringify(await events())).not.toContain('retry_parked_events');
  });

  test('shows an operator all companies, and only the origin of an endpoint’s URL', async () => {
    await api.endpoint({ url: 'https://example.com/path-that-is-a-secret?token=1' });
    const { events: all } = await ana.integrations
      .client(AuditAdminServiceService)
      .listAuditTrail({ company_id: null, actor: [], action: [], limit: 1000, after: Buffer.alloc(0) });
    expect(new Set(all.map(({ company_id }) => company_id))).toContain(other.id);
    expect(JSON.stringify(all)).not.toContain('path-that-is-a-secret');
    expect(all.find(({ event }) => event?.action === 'webhook.created')?.event?.after).toContain('"url":"https://example.com"');
  });

  test('contains no secret that was ever shown', async () => {
    const { rows } = await stored.query<{ row: string }>({ text: 'select e::text as row from audit_events e' });
    const trail = JSON.stringify(rows) + JSON.stringify(await events());
    expect(secrets.length).toBeGreaterThan(5);
    for (const secret of secrets) expect(trail).not.toContain(secret.slice(8, -4));
  });

  test('shows nothing to another company', async () => {
    const foreign = JSON.stringify(await events('', system.userToken(other)));
    expect(foreign).not.toContain(company.id);
    expect(foreign).not.toContain(company.userId);
    const { nextCursor } = (await api.call('GET', `${TRAIL}?limit=1`)).body.pagination;
    expect((await api.call('GET', `${TRAIL}?limit=1&cursor=${nextCursor as string}`, undefined, system.userToken(other))).status).toBe(400);
  });

  test('pages through every event once, newest first, and filters by time, actor and action', async () => {
    const all = await events();
    expect(all.map(({ at }) => at)).toEqual(
      all
        .map(({ at }) => at)
        .toSorted()
        .reverse(),
    );
    const paged: Listed[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await api.call('GET', `${TRAIL}?limit=3${cursor}`);
      paged.push(...(body.data as Listed[]));
      if (body.pagination.nextCursor === null) break;
      cursor = `&cursor=${body.pagination.nextCursor as string}`;
    }
    expect(paged).toEqual(all);
    const [first, second] = [all[2] as Listed, all[5] as Listed];
    expect(await events(`&from=${second.at}&before=${first.at}`)).toEqual(all.slice(3, 6));
    expect(await events(`&actor=${company.userId}`)).toEqual(all.filter(({ actor }) => (actor as { id: string }).id === company.userId));
    const both = ['webhook.created', 'api_key.created'];
    expect(await events(both.map((action) => `&action=${action}`).join(''))).toEqual(all.filter(({ action }) => both.includes(action)));
    expect((await api.call('GET', `${TRAIL}?colour=red`)).body.error.details).toMatchObject([{ field: 'colour', code: 'UNKNOWN_PARAMETER' }]);
  });
});

describe('the table of audit events', () => {
  test.each(['update audit_events set action = action', 'delete from audit_events', 'truncate audit_events'])('refuses to %s', async (text) => {
    const message = expect.stringContaining('audit events are never changed');
    await expect(stored.query({ text })).rejects.toMatchObject({ cause: expect.objectContaining({ message }) });
  });

  test('keeps an event for 365 days and no longer', async () => {
    const at = now() - 3_600_000_000;
    const ages = { kept: 365 * DAY - 1, border: 365 * DAY, old: 365 * DAY + 1 };
    for (const [action, age] of Object.entries(ages)) {
      await stored.query({
        text: `insert into audit_events (company_id, at, id, actor_kind, actor_id, actor_name, action, object_kind, object_id)
          values ($1, to_timestamp(0) + $2 * interval '1 microsecond', gen_random_uuid(), 'OPERATOR', 'test', 'test', $3, 'test', 'test')`,
        values: [NO_COMPANY, at - age, action],
      });
    }
    expect(await purgeAuditEvents(stored, at)).toBe(1);
    const { rows } = await stored.query<{ action: string }>({ text: `select action from audit_events where object_kind = 'test' order by at desc` });
    expect(rows.map(({ action }) => action)).toEqual(['kept', 'border']);
  });
});
