// A person asks to be erased: no row, topic of state or Redis key shows the name any more, the records stay, and nothing brings the name back.
import { randomUUID } from 'node:crypto';
import { codec, owners, resource } from '@truckroll/contract';
import { CompanyAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { DeliveryServiceService } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { ErasureServiceService } from '@truckroll/contract/gen/records/v1/erasures';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { InteractionChannel, InteractionDirection } from '@truckroll/contract/gen/scheduling/v1/interactions';
import { ServiceRequestChannel } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { generateCompany } from '@truckroll/demo-company';
import type { Service } from '@truckroll/process';
import { testCaller, testConfig } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { webhookDispatcherConfig } from '../../services/webhook-dispatcher/src/config.ts';
import { createWebhookDispatcher } from '../../services/webhook-dispatcher/src/webhook-dispatcher.ts';
import { startReceiver, type Receiver } from '../../services/webhook-dispatcher/test/support/receiver.ts';
import { dispatchDesk, refusal, type DispatchDesk } from '../support/dispatch.ts';
import type { Json } from '../support/expected.ts';
import { untilFollowed } from '../support/read-models.ts';
import { startSystem, type System } from '../support/system.ts';
import { operatorsCommand, renamed } from './fill.ts';
import { messagesWith, redisKeysWith, rowsWith } from './search.ts';

const MINUTES = 60_000;
const ERASED = 'Erased person';
const ACCOUNT = 'Quillfeather Household';
const CONTACT = 'Marlowe Thistlewood';
const TEXTS = { accounts: ['Quillfeather', '5125550177', 'Nettlebank'], contacts: ['Marlowe', 'Thistlewood', '5125550188'] };

let system: System;
let receiver: Receiver;
let dispatcher: Service;
let desk: DispatchDesk;
let account: Json;
let contact: Json;
let visit: Json;
const key = randomUUID();
const write: Json = { customer_notification: { message: `Dear ${ACCOUNT}, dear ${CONTACT}` } };
const [request, call, message] = [randomUUID(), randomUUID(), randomUUID()];

const command = (...args: string[]) => operatorsCommand(system, args);
const erase = (kind: string, id: string, ...more: string[]) => command('person', 'erase', kind, id, '--company', desk.company.id, ...more);
const intake = () => system.channel('scheduling').client(IntakeServiceService);
const recordRequest = () =>
  intake().recordServiceRequest({ company_id: desk.company.id, id: request, channel: ServiceRequestChannel.PHONE, account_id: account['id'] });
const recordInteraction = (id: string, direction: InteractionDirection, summary: string) =>
  intake().recordInteraction({
    company_id: desk.company.id,
    id,
    channel: InteractionChannel.EMAIL,
    direction,
    summary,
    account_id: account['id'],
    contact_id: contact['id'],
    started_at: 1_772_000_000_000_000,
    ended_at: 1_772_000_060_000_000,
  });

/** The generated company's first account with an invoice becomes the person: in every record that refers to it, under the person's name. */
function generated(): Map<string, Json[]> {
  const all = generateCompany({ seed: 3, size: 12, timezone: 'America/Chicago', until: '2026-11-20T18:00:00Z' });
  const records = new Map([...all].map(({ path, records }) => [path, [...records] as Json[]]));
  const replaced = (records.get('invoices')![0]!['account'] as Json)['id'] as string;
  const changed = (record: Json): Json => renamed(record, replaced, account['id'] as string, ACCOUNT) as Json;
  return new Map([...records].map(([path, list]) => [path, list.filter(({ id }) => id !== replaced).map(changed)]));
}

beforeAll(async () => {
  receiver = await startReceiver((response, { body }) => void response.writeHead(200).end(body));
  system = await startSystem({ webhookAllowedTargets: [receiver.target] });
  const settings = { ...webhookDispatcherConfig(system.dispatcherEnvironment), ...testConfig, callCredential: testCaller('webhook-dispatcher') };
  dispatcher = createWebhookDispatcher(settings);
  await dispatcher.start();
  desk = await dispatchDesk(system);
  const at = { created_at: '2026-03-01T15:00:00Z', updated_at: '2026-03-01T15:00:00Z' };
  const address = {
    id: randomUUID(),
    formatted: '9 Nettlebank, Austin, TX 78701',
    line_1: '9 Nettlebank',
    line_2: null,
    city: 'Austin',
    state: 'TX',
    postal_code: '78701',
  };
  account = {
    ...desk.account,
    name: ACCOUNT,
    company_name: 'Quillfeather LLC',
    phone: '+15125550177',
    email: 'quillfeather@example.com',
    billing_address: address,
    notifications_enabled: true,
  };
  const channel = { id: randomUUID(), type: 'MOBILE', value: '+15125550188', is_primary: true, opted_out: false };
  contact = {
    id: randomUUID(),
    account: { id: account['id'], name: ACCOUNT },
    name: CONTACT,
    first_name: 'Marlowe',
    last_name: 'Thistlewood',
    title: 'Thistlewood’s owner',
    is_primary: true,
    archived: false,
    primary_channel: { type: 'MOBILE', value: '+15125550188' },
    channels: [channel],
    ...at,
  };
  account['primary_contact'] = { id: contact['id'], name: CONTACT };
  await desk.store('accounts', account);
  await desk.store('contacts', contact);
  for (const [path, records] of generated()) await desk.store(path, ...records);
  await desk.store('jobs', { ...desk.job, account: { id: account['id'], name: ACCOUNT }, contact: { id: contact['id'], name: CONTACT } });
  const webhook = await fetch(`${system.baseUrl}/api/v1/integrations/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${system.userToken(desk.company)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'all', url: receiver.url, eventTypes: ['service_request.created', 'interaction.completed'] }),
  });
  expect(webhook.status).toBe(201);
  visit = await desk.visit();
  expect((await desk.add(visit, write, { key })).status).toBe(201);
  await recordRequest();
  await recordInteraction(call, InteractionDirection.INBOUND, 'asked for a time');
  await recordInteraction(message, InteractionDirection.OUTBOUND, `Dear ${ACCOUNT}, dear ${CONTACT}`);
  // As scheduling records the interaction of a notification that was sent.
  await system.database.query({ text: 'update scheduling.interactions set fingerprint = null, recorded = document where id = $1', values: [message] });
  await receiver.until(3);
  await until(
    'the answers of the receiver',
    async () => (await system.database.query({ text: 'select from integrations.webhook_attempts' })).rowCount,
    (count) => count >= 3,
  );
  await untilFollowed(system, desk.company);
}, 3 * MINUTES);
afterAll(async () => {
  await dispatcher?.destroy();
  await system?.stop();
  await receiver?.close();
}, MINUTES);

test('refuses an unknown person, a wrong name and other kinds, and a dry run only says who it is', async () => {
  const before = await rowsWith(system.database, TEXTS.accounts);
  for (const name of ['scheduling.accounts', 'scheduling.jobs', 'billing.invoices', 'reporting.jobs', 'reporting.names', 'integrations.webhook_events'])
    expect(before[name]).toBeGreaterThan(0);
  expect(await erase('accounts', randomUUID(), '--yes-erase', ACCOUNT)).toMatchObject({ code: 1, stderr: expect.stringContaining('has no record') });
  expect(await erase('accounts', account['id'], '--yes-erase', 'Quillfeather')).toMatchObject({ code: 1, stderr: expect.stringContaining(ACCOUNT) });
  expect(await erase('jobs', account['id'], '--yes-erase', ACCOUNT)).toMatchObject({ code: 2 });
  const dry = await erase('accounts', account['id']);
  expect(JSON.parse(dry.stdout)).toMatchObject({ name: ACCOUNT, erased: false });
  expect(await rowsWith(system.database, TEXTS.accounts)).toEqual(before);
});

test.each([
  ['contacts', CONTACT, () => contact],
  ['accounts', ACCOUNT, () => account],
] as const)(
  'erases one of the %s wherever the name is shown, and keeps the records',
  async (kind, name, record) => {
    const id = record()['id'] as string;
    const { nextCursor } = (await system.get(desk.company, '/api/v1/integrations/changes?cursor=now')).body;
    const { code, stdout, stderr } = await erase(kind, id, '--yes-erase', name);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const { mentions, more_mentions: more, ...first } = JSON.parse(stdout) as Json;
    expect(first).toMatchObject({ id, erased: true });
    expect({ mentions, more }).toEqual({ mentions: [], more: 0 });

    expect(await rowsWith(system.database, TEXTS[kind])).toEqual({});
    const kafka = { brokers: system.serviceEnvironment['KAFKA_BROKERS']!, prefix: system.serviceEnvironment['KAFKA_PREFIX']! };
    await until(
      'topics of state without the name',
      async () => (await messagesWith(kafka, TEXTS[kind])).state,
      (found) => found.length === 0,
    );
    expect((await messagesWith(kafka, [id])).kept.map((event) => event.key)).toEqual([`${desk.company.id}/${kind}/${id}`]);
    expect(await redisKeysWith(system.gatewayEnvironment['REDIS_URL']!, TEXTS[kind])).toEqual([]);

    expect((await system.get(desk.company, `/v1/${kind}/${id}`)).body['data']).toMatchObject({ id, name: ERASED, created_at: '2026-03-01T15:00:00Z' });
    expect((await system.get(desk.company, `/v1/${kind}?search=erased`)).body['data']).toEqual([expect.objectContaining({ id })]);
    const changes = await system.get(desk.company, `/api/v1/integrations/changes?cursor=${nextCursor}&limit=1000`);
    expect(changes.body['data']).toContainEqual(expect.objectContaining({ kind, id, record: expect.objectContaining({ name: ERASED }) }));

    const trail = await system.database.query({
      text: `select object_kind, object_id, before, after from integrations.audit_events where company_id = $1 and action = 'person.erased' and object_id = $2`,
      values: [desk.company.id, id],
    });
    expect(trail.rows).toEqual([{ object_kind: kind, object_id: id, before: null, after: null }]);
    // A second run says what the first one did. With the option it looks again, for what a replica of an earlier release may have stored since.
    expect(JSON.parse((await erase(kind, id)).stdout)).toEqual(first);
  },
  2 * MINUTES,
);

test('refuses to repeat writes whose answers showed the person', async () => {
  const replay = await desk.add(visit, write, { key });
  expect(refusal(replay).slice(0, 2)).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
  expect(replay.body['error'].message).toContain('erased');
  await expect(recordRequest()).rejects.toMatchObject({ status: 409 });
  await expect(recordInteraction(call, InteractionDirection.INBOUND, 'asked for a time')).rejects.toMatchObject({ status: 409 });
});

test('erases again what an earlier release has stored since', async () => {
  const id = contact['id'] as string;
  const { rows } = await system.database.query<{ document: Buffer }>({ text: 'select document from scheduling.contacts where id = $1', values: [id] });
  const { decode, encode } = codec(resource('contacts').record.typeName);
  const named = encode({ ...(decode(rows[0]!.document) as Json), name: CONTACT });
  await system.database.query({ text: 'update scheduling.contacts set document = $2 where id = $1', values: [id, Buffer.from(named.finish())] });
  // The replica that recorded the first request has a clock that is ahead.
  for (const service of owners) {
    const text = `update ${service}.erased_people set asked_at = '2100-01-01' where id = $1`;
    await system.database.query({ text, values: [id] });
  }
  expect(await erase('contacts', id, '--yes-erase', 'any')).toMatchObject({ code: 0 });
  expect(await rowsWith(system.database, TEXTS.contacts)).toEqual({});
});

let other: Json;

test('does not import the person again, nor the name in other records, and says so for each line', async () => {
  other = { ...account, id: randomUUID(), name: 'Oldcastle', company_name: null, phone: null, email: null, billing_address: null, primary_contact: null };
  const report = await system.importRecords(desk.company, 'accounts', [account, other]);
  expect(report).toMatchObject({ created: 1, changed: 0, problems: [{ line: 1, field: 'id', message: expect.stringContaining('was erased') }] });
  await desk.store('jobs', {
    ...desk.job,
    summary: 'Another summary',
    account: { id: account['id'], name: ACCOUNT },
    contact: { id: contact['id'], name: CONTACT },
  });
  await untilFollowed(system, desk.company);
  expect(await rowsWith(system.database, [...TEXTS.accounts, ...TEXTS.contacts])).toEqual({});
});

test('stores no webhook that arrives late with the name', async () => {
  const [id, subject] = [randomUUID(), randomUUID()];
  const names = { account: { id: account['id'], name: ACCOUNT }, contact: { id: contact['id'], name: CONTACT } };
  const data = { id: subject, ...names, direction: 'OUTBOUND', summary: `Dear ${CONTACT}` };
  const event = { id, type: 'interaction.completed', company_id: desk.company.id, subject, sequence: 1, timestamp: Date.now() * 1000 };
  const late = { ...event, body: Buffer.from(JSON.stringify({ ...event, data })), customer_name: ACCOUNT };
  const received = receiver.received.length;
  await system
    .channel('integrations')
    .client(DeliveryServiceService)
    .fanOut({ events: [late], dead_letter_ids: [], lease: null });
  await receiver.until(received + 1);
  expect(JSON.parse(receiver.received.at(-1)!.body).data).toMatchObject({ account: { name: ERASED }, contact: { name: ERASED }, summary: ERASED });
  expect(await rowsWith(system.database, [...TEXTS.accounts, ...TEXTS.contacts])).toEqual({});
});

test(
  'every service learns of an erasure from integrations alone, and records who asked for a name',
  async () => {
    const person = { company_id: desk.company.id, kind: 'accounts', id: other['id'] as string };
    const before = await system.channel('scheduling').client(ErasureServiceService).getPerson(person);
    expect(before).toMatchObject({ name: 'Oldcastle', erasure: null });
    await system.channel('integrations').client(CompanyAdminServiceService).erasePerson(person);
    for (const service of owners) {
      await until(
        `${service} to end`,
        async () => (await system.channel(service).client(ErasureServiceService).getPerson(person)).erasure?.ended_at,
        (endedAt) => endedAt != null,
      );
    }
    const text = `select distinct object_id from integrations.audit_events where company_id = $1 and action = 'erasure.get_person' and after = $2 order by 1`;
    await until(
      'the entries of all services',
      async () =>
        (await system.database.query({ text, values: [person.company_id, JSON.stringify({ id: person.id })] })).rows.map(({ object_id }) => object_id),
      (services) => services.join() === owners.toSorted().join(),
    );
  },
  MINUTES,
);
