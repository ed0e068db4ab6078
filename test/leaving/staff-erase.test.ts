// People who worked for a company ask to be erased: a technician, and a user of this installation. No row, topic of state or Redis key shows them.
import { randomUUID } from 'node:crypto';
import { KeyAdminServiceService, UserAdminServiceService, type User } from '@truckroll/contract/gen/integrations/v1/admin';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { InteractionChannel, InteractionDirection } from '@truckroll/contract/gen/scheduling/v1/interactions';
import { generateCompany } from '@truckroll/demo-company';
import { Database } from '@truckroll/postgres';
import { until } from '@truckroll/testing/until';
import { append, auditEvent } from '../../packages/outbox/src/index.ts';
import { dispatchDesk, type DispatchDesk } from '../support/dispatch.ts';
import type { Json } from '../support/expected.ts';
import { untilFollowed } from '../support/read-models.ts';
import { startSystem, type System, type TestCompany } from '../support/system.ts';
import { operatorsCommand, renamed } from './fill.ts';
import { messagesWith, redisKeysWith, rowsWith } from './search.ts';

const MINUTES = 60_000;
const TECHNICIAN = 'Tamsin Larkspur';
const USER = 'Odalys Fernhollow';
const TEXTS = { technician: ['Tamsin', 'Larkspur', '5125550166'], user: ['Odalys', 'Fernhollow'] };

let system: System;
let desk: DispatchDesk;
let other: TestCompany;
let technician: Json;
let user: User;
let notification: Json;

const users = () => system.channel('integrations').client(UserAdminServiceService);
const erase = (kind: string, id: string, ...more: string[]) => operatorsCommand(system, ['person', 'erase', kind, id, '--company', desk.company.id, ...more]);

/** No row, topic of state or Redis key contains the texts. */
async function expectNothingWith(texts: readonly string[]): Promise<void> {
  expect(await rowsWith(system.database, texts)).toEqual({});
  const kafka = { brokers: system.serviceEnvironment['KAFKA_BROKERS']!, prefix: system.serviceEnvironment['KAFKA_PREFIX']! };
  await until(
    'topics of state without the name',
    async () => (await messagesWith(kafka, texts)).state,
    (found) => found.length === 0,
  );
  expect(await redisKeysWith(system.gatewayEnvironment['REDIS_URL']!, texts)).toEqual([]);
}

/** A technician that records of every kind name that can name one. */
async function storeTechnician(): Promise<void> {
  const records = [...generateCompany({ seed: 3, size: 12, timezone: 'America/Chicago', until: '2026-11-20T18:00:00Z' })];
  const members = [...records.find(({ path }) => path === 'team-members')!.records] as Json[];
  const texts = JSON.stringify(records.map((each) => [...each.records]));
  const named = members.toSorted((a, b) => texts.split(b['id']).length - texts.split(a['id']).length)[0]!;
  const own = { first_name: 'Tamsin', last_name: 'Larkspur', email: 'larkspur@example.com', phone: '+15125550166', title: 'Tamsin’s own title' };
  technician = { ...named, name: TECHNICIAN, ...own, status: 'ACTIVE', assignable: true };
  for (const { path, records: of } of records) {
    const lines = ([...of] as Json[]).map((record) => renamed(record, named['id'], named['id'], TECHNICIAN) as Json);
    await desk.store(path, ...lines.map((line) => (line['id'] === named['id'] ? technician : line)));
  }
  await desk.store('jobs', { ...desk.job, summary: 'Call (512) 555-0166 before' });
  const visit = await desk.visit();
  expect((await desk.add(visit, { team_member_id: technician['id'], customer_notification: {} })).status).toBe(201);
  const { rows } = await system.database.query<Json>({
    text: 'select id, message from scheduling.notifications where appointment_id = $1',
    values: [visit['id']],
  });
  notification = rows[0]!;
  const interaction = {
    company_id: desk.company.id,
    channel: InteractionChannel.CALL,
    direction: InteractionDirection.OUTBOUND,
    started_at: 1_772_000_000_000_000,
    ended_at: 1_772_000_060_000_000,
  };
  const intake = system.channel('scheduling').client(IntakeServiceService);
  await intake.recordInteraction({ ...interaction, id: randomUUID(), summary: 'asked for a time', handled_by_id: technician['id'] });
  // As scheduling records the interaction of a notification that was sent.
  await intake.recordInteraction({ ...interaction, id: notification['id'], summary: notification['message'] });
  const text = 'update scheduling.interactions set fingerprint = null where id = $1';
  await system.database.query({ text, values: [notification['id']] });
}

/** A user who made a key, an endpoint and a view, got e-mails, and was in two companies, in which others named the user's address. */
async function storeUser(): Promise<void> {
  const names = { email: 'odalys@example.com', first_name: 'Odalys', last_name: 'Fernhollow' };
  user = (await users().createUser({ company_id: other.id, ...names, subject: 'odalys at an issuer' })).user!;
  const send = (as: TestCompany, method: string, path: string, body: unknown): Promise<Response> =>
    fetch(`${system.baseUrl}/api/v1/integrations/${path}`, {
      method,
      headers: { authorization: `Bearer ${system.userToken(as)}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const webhook = async (as: TestCompany, fields: object = {}): Promise<void> => {
    const made = await send(as, 'POST', 'webhooks', { name: 'all', url: 'https://example.com', eventTypes: ['service_request.created'], ...fields });
    expect(made.status).toBe(201);
    expect((await send(as, 'DELETE', `webhooks/${((await made.json()) as Json)['data']['id']}`, undefined)).status).toBeLessThan(300);
  };
  await webhook(other, { alertEmails: [names.email] });
  await users().moveUser({ id: user.id, company_id: desk.company.id });
  await system.channel('integrations').client(KeyAdminServiceService).createKey({ company_id: desk.company.id, user_id: user.id, name: 'a key', limits: null });
  const as = { ...desk.company, userId: 'odalys at an issuer' };
  await webhook(as);
  await webhook(desk.company, { alertEmails: [names.email] });
  expect((await send(as, 'PUT', 'views/mine', { query: '#/jobs', shared: true })).status).toBeLessThan(300);
  const text = `insert into integrations.mails (company_id, user_id, subject, body, due_at) values ($1, $2, $3, $3, now() + interval '1 hour')`;
  await system.database.query({ text, values: [desk.company.id, user.id, `Dear ${USER}`] });
}

beforeAll(async () => {
  system = await startSystem();
  desk = await dispatchDesk(system);
  other = await system.createCompany();
  await storeTechnician();
  await storeUser();
  await untilFollowed(system, desk.company);
}, 3 * MINUTES);
afterAll(() => system?.stop(), MINUTES);

test(
  'erases a team member in every service, who becomes inactive, and lists texts of records that have the number',
  async () => {
    const id = technician['id'] as string;
    const before = await rowsWith(system.database, TEXTS.technician);
    for (const name of ['scheduling.team_members', 'scheduling.job_appointments', 'scheduling.interactions', 'billing.payments', 'reporting.names'])
      expect(before[name]).toBeGreaterThan(0);
    const { code, stdout } = await erase('team-members', id, '--yes-erase', TECHNICIAN);
    expect(code).toBe(0);
    const mentions = [{ service: 'scheduling', kind: 'jobs', id: desk.job['id'], field: 'summary' }];
    expect(JSON.parse(stdout)).toMatchObject({ mentions, more_mentions: 0 });
    await expectNothingWith(TEXTS.technician);
    const said = 'select message from scheduling.notifications where id = $1';
    const message = (notification['message'] as string).replace(TECHNICIAN, 'Erased person');
    expect((await system.database.query({ text: said, values: [notification['id']] })).rows).toEqual([{ message }]);
    const shown = (await system.get(desk.company, `/v1/team-members/${id}`)).body['data'];
    expect(shown).toMatchObject({ id, name: 'Erased person', email: null, phone: null, title: null, status: 'INACTIVE', assignable: false });
    const { problems } = await system.importRecords(desk.company, 'team-members', [technician]);
    expect(problems).toMatchObject([{ line: 1, field: 'id', message: expect.stringContaining('was erased') }]);
  },
  2 * MINUTES,
);

test('an entry of the trail that arrives late has the name no more', async () => {
  const shown = { id: randomUUID(), team_member: { id: technician['id'], name: TECHNICIAN } };
  const entry = { companyId: desk.company.id, action: 'assignment.added', object: { kind: 'job-assignments', id: shown.id }, after: JSON.stringify(shown) };
  // Another company may have a record with the same id.
  const others = { ...entry, companyId: other.id };
  const scheduling = new Database({ url: system.serviceEnvironment['DATABASE_URL']!, schema: 'scheduling', maxConnections: 1 });
  await scheduling.transaction((tx) => append(tx, [auditEvent('scheduling', entry), auditEvent('scheduling', others)]));
  await scheduling.close();
  const text = 'select company_id, after from integrations.audit_events where object_id = $1';
  const { rows } = await until(
    'the entries',
    () => system.database.query<{ company_id: string; after: string }>({ text, values: [shown.id] }),
    ({ rowCount }) => rowCount === 2,
  );
  const after = new Map(rows.map((row) => [row.company_id, JSON.parse(row.after) as unknown]));
  expect(after.get(desk.company.id)).toEqual({ ...shown, team_member: { id: technician['id'], name: 'Erased person' } });
  expect(after.get(other.id)).toEqual(shown);
});

test('refuses an active user, and one of another company', async () => {
  expect(await erase('users', user.id, '--yes-erase', USER)).toMatchObject({ code: 1, stderr: expect.stringContaining('truckroll user deactivate') });
  expect(await erase('users', other.userId, '--yes-erase', USER)).toMatchObject({ code: 1, stderr: expect.stringContaining('has no record') });
});

test(
  'erases a user from the trail of each company that the user was in, with e-mails, and keeps what the user did',
  async () => {
    const entries = `select company_id, id, at, actor_kind, actor_id, action, object_id from integrations.audit_events
      where action not like 'erasure.%' and action <> 'person.erased' and company_id = any($1) order by at, id`;
    await users().deactivateUser({ id: user.id });
    const companies = [desk.company.id, other.id];
    const { rows: before } = await system.database.query({ text: entries, values: [companies] });
    const named = await rowsWith(system.database, TEXTS.user);
    expect(named).toMatchObject({ 'integrations.users': 1, 'integrations.mails': 1 });
    expect(named['integrations.audit_events']).toBeGreaterThan(4);
    expect(await erase('users', user.id, '--yes-erase', USER)).toMatchObject({ code: 0 });
    await expectNothingWith(TEXTS.user);
    const { rows: after } = await system.database.query({ text: entries, values: [companies] });
    expect(after).toEqual(before);
    const actor = `select distinct actor_name from integrations.audit_events where actor_id = $1`;
    expect((await system.database.query({ text: actor, values: [user.id] })).rows).toEqual([{ actor_name: 'Erased person' }]);
    const mail = `select subject, body, status from integrations.mails where user_id = $1`;
    expect((await system.database.query({ text: mail, values: [user.id] })).rows).toEqual([
      { subject: 'Erased person', body: 'Erased person', status: 'SUPPRESSED' },
    ]);
    const integrations = new Database({ url: system.serviceEnvironment['DATABASE_URL']!, schema: 'integrations', maxConnections: 1 });
    const change = integrations.query({ text: 'update audit_events set after = null where actor_id = $1', values: [user.id] });
    await expect(change).rejects.toThrow('42501');
    await integrations.close();
  },
  2 * MINUTES,
);

test('looks in a second run for no name that others have too', async () => {
  const { code, stdout } = await erase('users', user.id, '--yes-erase', USER);
  expect({ code, ...(JSON.parse(stdout) as Json) }).toMatchObject({ code: 0, mentions: [], more_mentions: 0 });
}, 60_000);

test('the trail refuses every other change while a person is being erased', async () => {
  const integrations = new Database({ url: system.serviceEnvironment['DATABASE_URL']!, schema: 'integrations', maxConnections: 1 });
  const changes = (change: string, where: string): Promise<void> =>
    integrations.transaction(async (tx) => {
      await tx.query({ text: 'update erased_people set ended_at = null where id = $1', values: [user.id] });
      const { rowCount } = await tx.query({ text: `update audit_events set ${change} where ${where}`, values: [user.id] });
      throw new Error(`changed ${rowCount > 0 ? 'some' : 'none'}`);
    });
  const ofUser = 'actor_id = $1::text';
  await expect(changes('after = null', ofUser)).rejects.toThrow('changed some');
  await expect(changes(`action = 'x'`, ofUser)).rejects.toThrow('42501');
  await expect(changes(`address = '203.0.113.9'`, ofUser)).rejects.toThrow('42501');
  await expect(changes('after = null', `position($1::text in concat_ws(' ', actor_id, before, after)) = 0`)).rejects.toThrow('42501');
  await integrations.close();
});
