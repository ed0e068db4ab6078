// A company with people who will ask to be erased: a customer and a contact of theirs, a technician and a user. Each is named wherever one can be.
import { randomUUID } from 'node:crypto';
import { KeyAdminServiceService, UserAdminServiceService, type User } from '@truckroll/contract/gen/integrations/v1/admin';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { InteractionChannel, InteractionDirection } from '@truckroll/contract/gen/scheduling/v1/interactions';
import { ServiceRequestChannel } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { until } from '@truckroll/testing/until';
import { startSmsServer } from '../../services/scheduling/test/providers.ts';
import * as line from '../../services/scheduling/test/records.ts';
import { startReceiver } from '../../services/webhook-dispatcher/test/support/receiver.ts';
import { demoLines } from '../support/demo.ts';
import { dispatchDesk, type DispatchDesk } from '../support/dispatch.ts';
import type { Json } from '../support/expected.ts';
import { untilFollowed } from '../support/read-models.ts';
import { startSystem, type System, type TestCompany } from '../support/system.ts';
import { renamed } from './fill.ts';

export const NAMES = { accounts: 'Quillfeather Household', contacts: 'Marlowe Thistlewood', 'team-members': 'Tamsin Larkspur', users: 'Odalys Fernhollow' };
export type Kind = keyof typeof NAMES;
/** What each of them is known by. */
export const TEXTS: Readonly<Record<Kind, readonly string[]>> = {
  accounts: ['Quillfeather', '5125550177', 'Nettlebank'],
  contacts: ['Marlowe', 'Thistlewood', '5125550188'],
  'team-members': ['Tamsin', 'Larkspur', '5125550166'],
  users: ['Odalys', 'Fernhollow'],
};

const AT = { created_at: '2026-03-01T15:00:00Z', updated_at: '2026-03-01T15:00:00Z' };

/** A contact of the account, who gets text messages. */
function contactOf(account: Json, number: string, fields: Json): Json {
  const channel = { id: randomUUID(), type: 'MOBILE', value: number, is_primary: true, opted_out: false };
  return {
    id: randomUUID(),
    account: { id: account['id'], name: account['name'] },
    first_name: null,
    last_name: null,
    title: null,
    is_primary: true,
    archived: false,
    primary_channel: { type: 'MOBILE', value: number },
    channels: [channel],
    ...AT,
    ...fields,
  };
}

export async function startPeople() {
  const sms = await startSmsServer();
  const receiver = await startReceiver((response, { body }) => void response.writeHead(200).end(body));
  const system = await startSystem({ webhookAllowedTargets: [receiver.target], smsUrl: sms.url });
  await system.startDispatcher();
  const desk = await dispatchDesk(system);
  const other = await system.createCompany();
  const records = await storeRecords(desk);
  const messages = await storeMessages(system, desk, receiver.url, records);
  const user = await storeUser(system, desk, other);
  await receiver.until(5);
  await until(
    'the answers of the receiver',
    async () => (await system.database.query({ text: 'select from integrations.webhook_attempts' })).rowCount,
    (count) => count >= 5,
  );
  await untilFollowed(system, desk.company);
  await until(
    'the entries of the three additions and the removal',
    async () => (await system.database.query({ text: `select from integrations.audit_events where action like 'assignment.%'` })).rowCount,
    (count) => count === 4,
  );
  return {
    ...{ system, receiver, desk, other, user, ...records, ...messages },
    async stop() {
      await system.stop();
      await Promise.all([receiver.close(), sms.stop()]);
    },
  };
}

export type People = Awaited<ReturnType<typeof startPeople>>;

/** Records of every kind that can name one of them, with one account and one technician of a generated company as those. */
async function storeRecords(desk: DispatchDesk): Promise<{ account: Json; contact: Json; technician: Json }> {
  const generated = demoLines({ seed: 3, size: 12, timezone: 'America/Chicago', until: '2026-11-20T18:00:00Z' });
  const of = new Map(generated);
  const address = {
    id: randomUUID(),
    formatted: '9 Nettlebank, Austin, TX 78701',
    line_1: '9 Nettlebank',
    line_2: null,
    city: 'Austin',
    state: 'TX',
    postal_code: '78701',
  };
  const account: Json = {
    ...desk.account,
    name: NAMES.accounts,
    company_name: 'Quillfeather LLC',
    phone: '+15125550177',
    email: 'quillfeather@example.com',
    billing_address: address,
    notifications_enabled: true,
  };
  const names = { name: NAMES.contacts, first_name: 'Marlowe', last_name: 'Thistlewood', title: 'Thistlewood’s owner' };
  const contact = contactOf(account, '+15125550188', names);
  account['primary_contact'] = { id: contact['id'], name: NAMES.contacts };

  const texts = JSON.stringify(generated);
  const member = of.get('team-members')!.toSorted((a, b) => texts.split(b['id']).length - texts.split(a['id']).length)[0]!;
  const own = { first_name: 'Tamsin', last_name: 'Larkspur', email: 'larkspur@example.com', phone: '+15125550166', title: 'Tamsin’s own title' };
  const technician: Json = { ...member, name: NAMES['team-members'], ...own, status: 'ACTIVE', assignable: true };

  await desk.store('accounts', account);
  await desk.store('contacts', contact);
  const replaced = (of.get('invoices')![0]!['account'] as Json)['id'] as string;
  const changed = (record: Json): Json =>
    renamed(renamed(record, replaced, account['id'] as string, NAMES.accounts), member['id'] as string, member['id'] as string, technician['name']) as Json;
  for (const [path, records] of generated) {
    const kept = records.filter(({ id }) => id !== replaced).map(changed);
    await desk.store(path, ...kept.map((record) => (record['id'] === member['id'] ? technician : record)));
  }
  const customer = { account: { id: account['id'], name: NAMES.accounts }, contact: { id: contact['id'], name: NAMES.contacts } };
  await desk.store('jobs', { ...desk.job, summary: 'Call (512) 555-0166 before', ...customer });
  return { account, contact, technician };
}

/** A request of a user to the API below /api/v1/integrations. */
function send(system: System, as: TestCompany, method: string, path: string, body?: unknown): Promise<Response> {
  return fetch(`${system.baseUrl}/api/v1/integrations/${path}`, {
    method,
    headers: { authorization: `Bearer ${system.userToken(as)}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

type Records = Awaited<ReturnType<typeof storeRecords>>;

/** A service request, a call, and messages that were sent: one to the contact, and two to another customer, which name the technician. */
async function storeMessages(system: System, desk: DispatchDesk, url: string, { account, contact, technician }: Records) {
  const types = ['service_request.created', 'interaction.completed'];
  expect((await send(system, desk.company, 'POST', 'webhooks', { name: 'all', url, eventTypes: types })).status).toBe(201);
  const intake = system.channel('scheduling').client(IntakeServiceService);
  const [request, call] = [randomUUID(), randomUUID()];
  const recordRequest = () =>
    intake.recordServiceRequest({ company_id: desk.company.id, id: request, channel: ServiceRequestChannel.PHONE, account_id: account['id'] });
  const recordCall = () =>
    intake.recordInteraction({
      company_id: desk.company.id,
      id: call,
      channel: InteractionChannel.CALL,
      direction: InteractionDirection.INBOUND,
      summary: 'asked for a time',
      account_id: account['id'],
      contact_id: contact['id'],
      handled_by_id: technician['id'],
      started_at: 1_772_000_000_000_000,
      ended_at: 1_772_000_060_000_000,
    });
  await recordRequest();
  await recordCall();

  const visit = await desk.visit();
  const key = randomUUID();
  const dear = { customer_notification: { message: `Dear ${NAMES.accounts}, dear ${NAMES.contacts}` } };
  const addToVisit = () => desk.add(visit, dear, { key });
  expect((await addToVisit()).status).toBe(201);

  const customer: Json = line.account({ name: 'Oldcastle' });
  const recipient = contactOf(customer, '+15125550199', { name: 'Ines Oldcastle' });
  const job = line.job({ account: line.ref(customer['id'], customer['name']), contact: line.ref(recipient['id'], recipient['name']), number: 'J-2' });
  await desk.store('accounts', customer);
  await desk.store('contacts', recipient);
  await desk.store('jobs', job);
  const [left, kept] = [await named(), await named()];
  // The technician is on the first visit no more, and the second message is of a release that noted no names.
  expect((await desk.remove(left.assignment, left.revision)).status).toBe(200);
  await system.database.query({ text: 'update scheduling.notifications set team_member_ids = null where id = $1', values: [kept.id] });
  return { customer, recordRequest, recordCall, addToVisit, named: [left.id, kept.id] as const };

  /** Adds the technician to a visit, and resolves when the message about that was sent. */
  async function named(): Promise<{ id: string; assignment: string; revision: string }> {
    const { body } = await desk.add(await desk.visit({ job_id: job['id'] }), { team_member_id: technician['id'], customer_notification: {} });
    const { id } = body['notification'] as { id: string };
    await until(
      'the message to be sent',
      async () => (await system.database.query({ text: `select from scheduling.notifications where id = $1 and status = 'SENT'`, values: [id] })).rowCount,
      (count) => count === 1,
    );
    return { id, assignment: body['data'].assignments[0].id, revision: body['data'].revision };
  }
}

/** A user who made a key, an endpoint and a view, got e-mails, and was in two companies, in which others named the user's address. */
async function storeUser(system: System, desk: DispatchDesk, other: TestCompany): Promise<User> {
  const users = system.channel('integrations').client(UserAdminServiceService);
  const names = { email: 'odalys@example.com', first_name: 'Odalys', last_name: 'Fernhollow' };
  const user = (await users.createUser({ company_id: other.id, ...names, subject: 'odalys at an issuer' })).user!;
  const webhook = async (as: TestCompany, fields: object = {}): Promise<void> => {
    const made = await send(system, as, 'POST', 'webhooks', { name: 'x', url: 'https://example.com', eventTypes: ['service_request.created'], ...fields });
    expect(made.status).toBe(201);
    expect((await send(system, as, 'DELETE', `webhooks/${((await made.json()) as Json)['data']['id']}`)).status).toBeLessThan(300);
  };
  await webhook(other, { alertEmails: [names.email] });
  await users.moveUser({ id: user.id, company_id: desk.company.id });
  await system.channel('integrations').client(KeyAdminServiceService).createKey({ company_id: desk.company.id, user_id: user.id, name: 'a key', limits: null });
  const as = { ...desk.company, userId: 'odalys at an issuer' };
  await webhook(as);
  await webhook(desk.company, { alertEmails: [names.email] });
  expect((await send(system, as, 'PUT', 'views/mine', { query: '#/jobs', shared: true })).status).toBeLessThan(300);
  const text = `insert into integrations.mails (company_id, user_id, subject, body, due_at) values ($1, $2, $3, $3, now() + interval '1 hour')`;
  await system.database.query({ text, values: [desk.company.id, user.id, `Dear ${NAMES.users}`] });
  return user;
}
