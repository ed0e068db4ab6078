// PostgreSQL is restored to an earlier moment, while Kafka, receivers and clients still have what came after it.
import { tmpdir } from 'node:os';
import { randomUUID } from 'node:crypto';
import { FreezeServiceService } from '@truckroll/contract/gen/records/v1/freezes';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { ServiceRequestChannel, ServiceRequestStatus } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import type { Service } from '@truckroll/process';
import { testCaller } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { truckroll } from '../../tools/cli/test/system.ts';
import { startReceiver, type Receiver } from '../../services/webhook-dispatcher/test/support/receiver.ts';
import type { Everything, Json } from '../support/expected.ts';
import { newStorage, startSystem, type Storage, type System, type TestCompany } from '../support/system.ts';
import { startBackedUpServer, type BackedUpServer } from './server.ts';

const MINUTES = 60_000;
const MOMENT = 'before the accident';
const PERIOD = 'start_date=2020-01-01&end_date=2030-01-01&bucket=year';
const REPORTS = [
  `invoice-activity?${PERIOD}`,
  `collections?${PERIOD}&group_by=payment_method`,
  `job-profitability?${PERIOD}&group_by=job_class`,
  `technician-participation-profitability?${PERIOD}`,
];

let server: BackedUpServer;
let storage: Storage;
let receiver: Receiver;
let system: System;
let dispatcher: Service;
let company: TestCompany;
let lines: Everything;
let refusals = 0;

async function startAll(): Promise<void> {
  system = await startSystem({ storage, webhookAllowedTargets: [receiver.target] });
  dispatcher = await system.startDispatcher();
}

async function reports(): Promise<Json[]> {
  const asked = Date.now();
  const answers: Json[] = [];
  const isFresh = ({ status, body }: { status: number; body: Json }): boolean => status === 200 && Date.parse(body['report'].as_of) >= asked;
  for (const query of REPORTS) {
    const { body } = await until(`a report as of ${new Date(asked).toISOString()}`, () => system.get(company, `/v1/reports/${query}`), isFresh);
    answers.push(body['data'] as Json);
  }
  return answers;
}

async function store(of: TestCompany, path: string, records: readonly Json[]): Promise<void> {
  expect((await system.importRecords(of, path, records)).problems).toEqual([]);
}

async function record(id: string): Promise<void> {
  await system
    .channel('scheduling')
    .client(IntakeServiceService)
    .recordServiceRequest({ company_id: company.id, id, channel: ServiceRequestChannel.PHONE, summary: 'AC not cooling' });
}

async function contact(id: string): Promise<void> {
  await system
    .channel('scheduling')
    .client(IntakeServiceService)
    .changeServiceRequestStatus({ company_id: company.id, id, status: ServiceRequestStatus.CONTACTED });
}

/** A message to a customer and an e-mail to a user, due in an hour. After the restore it is unknown whether they were sent. */
async function queueMessages(): Promise<void> {
  await system.database.query({
    text: `insert into scheduling.notifications (company_id, id, appointment_id, job_id, account_id, contact_id, revision, channel, address, subject, message, due_at)
      select $1, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'r', 'EMAIL', 'dana@example.com', 's', 'm', now() + interval '1 hour'`,
    values: [company.id],
  });
  await system.database.query({
    text: `insert into integrations.mails (company_id, user_id, subject, body, due_at) values ($1, $2, 's', 'b', now() + interval '1 hour')`,
    values: [company.id, company.userId],
  });
}

async function messages(): Promise<string[]> {
  const { rows } = await system.database.query<{ status: string }>({
    text: 'select status from scheduling.notifications union all select status from integrations.mails',
  });
  return rows.map(({ status }) => status);
}

const arrived = (): [string, number][] => receiver.received.map(({ body }) => JSON.parse(body) as Json).map(({ data, sequence }) => [data.id, sequence]);
const deliveriesOf = (id: string, sequence: number): number => arrived().filter(([subject, number]) => subject === id && number === sequence).length;

/** The backup has messages of a company whose rows scheduling refuses to change. */
async function freezeScheduling(): Promise<void> {
  await until(
    'the freeze',
    () => system.channel('scheduling').client(FreezeServiceService).freeze({ company_id: company.id }),
    ({ state }) => state?.closed === true,
  );
}

const command = (...args: string[]) =>
  truckroll(
    ['--json', ...args],
    {
      DATABASE_URL: server.url,
      KAFKA_BROKERS: system.serviceEnvironment['KAFKA_BROKERS']!,
      KAFKA_PREFIX: storage.kafkaPrefix,
      CALL_CREDENTIAL: testCaller('operator').text,
      ...Object.fromEntries(Object.entries(system.gatewayEnvironment).filter(([name]) => name.endsWith('_ADDRESS'))),
    },
    tmpdir(),
  );

beforeAll(async () => {
  // The very first delivery must be retried.
  [server, receiver] = await Promise.all([startBackedUpServer(), startReceiver((response) => void response.writeHead(refusals++ === 0 ? 503 : 204).end())]);
  storage = newStorage(server.url);
  await startAll();
  company = await system.createCompany();
  lines = await system.importDemo(company, 3, 20);
  const answer = await fetch(`${system.baseUrl}/api/v1/integrations/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${system.userToken(company)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Lead sync', url: receiver.url, eventTypes: ['service_request.created', 'service_request.status_changed'] }),
  });
  expect(answer.status).toBe(201);
}, 3 * MINUTES);
afterAll(async () => {
  await system?.stop();
  await receiver?.close();
  await server?.close();
}, MINUTES);

test(
  'has the restored state everywhere after truckroll restored',
  async () => {
    const [waiting, unsent, later] = [randomUUID(), randomUUID(), randomUUID()];
    // One delivery waits for its retry, and one event has not become deliveries.
    await record(waiting);
    await until(
      'the first webhook',
      () => deliveriesOf(waiting, 1),
      (count) => count === 1,
    );
    const queued = () => system.database.query<{ failures: number }>({ text: 'select failures from integrations.webhook_queue' });
    await until('a failed delivery in the queue', queued, ({ rows }) => rows[0]?.failures === 1);
    await dispatcher.destroy();
    await system.database.query({ text: 'update integrations.webhook_queue set due_at = now()' });
    await record(unsent);
    await queueMessages();
    const before = await reports();
    await freezeScheduling();
    await server.name(MOMENT);
    await command('company', 'unfreeze', company.id);

    // Changes that the restore will undo: changed, new and removed records, a new company, and events that receivers have seen.
    const [invoice] = lines['invoices']!.filter(({ status }) => status === 'OPEN') as [Json];
    await store(company, 'invoices', [
      { ...invoice, status: 'VOIDED' },
      { ...invoice, id: randomUUID(), number: 'INV-LOST' },
    ]);
    const [job] = lines['jobs'] as [Json];
    const lostJob = { ...job, id: randomUUID(), number: 'J-LOST' };
    await store(company, 'jobs', [lostJob]);
    await store(company, 'payments', [{ ...lines['payments']![0], id: randomUUID() }]);
    const [account] = lines['accounts'] as [Json];
    await store(company, 'accounts', [{ ...account, name: 'Renamed and lost' }]);
    const lostCompany = await system.createCompany();
    dispatcher = await system.startDispatcher();
    await until(
      'the webhook that had not been sent',
      () => deliveriesOf(unsent, 1),
      (count) => count === 1,
    );
    await record(later);
    await contact(unsent);
    await until(
      'two later webhooks',
      () => [deliveriesOf(later, 1), deliveriesOf(unsent, 2)],
      (counts) => counts.every((count) => count === 1),
    );
    expect(await reports()).not.toEqual(before);
    await until(
      'financials of the new job',
      () => system.get(company, `/v1/job-financials/${lostJob.id}`),
      ({ status }) => status === 200,
    );

    // The command refuses while services run.
    const refusal = await command('restored', '--wait', '1s');
    expect(refusal).toMatchObject({ code: 1, stderr: expect.stringMatching(/integrations, scheduling, billing, .*still run/) });
    await system.stop();
    await server.restore(MOMENT);

    const { code, stdout, stderr } = await command('restored');
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const renewed = JSON.parse(stdout) as Json;
    expect(renewed).toMatchObject({
      epoch: 1,
      repeated: 1,
      removed: { 'truckroll.scheduling.jobs': 1, 'truckroll.billing.invoices': 1, 'truckroll.billing.payments': 1, 'truckroll.integrations.companies': 1 },
    });
    const pairs = (of: Json[]): unknown[] => of.map(({ subject, sequence }) => [subject, sequence]).sort();
    expect(pairs(renewed['deliveries'])).toEqual(
      [
        [waiting, 1],
        [unsent, 1],
      ].sort(),
    );
    expect(renewed).toMatchObject({
      messages: [{ company_id: company.id, address: 'dana@example.com' }],
      mails: [{ company_id: company.id, user_id: company.userId }],
      frozen: [company.id],
    });
    expect(pairs(renewed['undone'])).toEqual(
      [
        [later, 1],
        [unsent, 2],
      ].sort(),
    );

    const seen = arrived().length;
    await startAll();
    expect(await command('company', 'unfreeze', company.id)).toMatchObject({ code: 0 });
    expect(await reports()).toEqual(before);
    expect(await messages()).toEqual(['UNKNOWN', 'UNKNOWN']);
    const trail = `select actor_id from integrations.audit_events where action = 'installation.restored'`;
    expect((await system.database.query({ text: trail })).rows).toEqual([{ actor_id: `role:${new URL(server.url).username}` }]);
    const verified = await command('verify');
    expect({ ...verified, stdout: JSON.parse(verified.stdout) as Json }).toMatchObject({
      code: 0,
      stdout: { companies: 1, differences: [], reports: [], checked: expect.any(Number) as number },
    });
    expect((await system.get(company, `/v1/job-financials/${lostJob.id}`)).status).toBe(404);
    const { rows } = await system.database.query<{ id: string }>({ text: 'select company_id as id from reporting.companies' });
    expect(rows).toEqual([{ id: company.id }]);
    expect(rows).not.toContainEqual({ id: lostCompany.id });
    const nameKept = async (): Promise<string | undefined> => {
      const text = `select name from billing.names where company_id = $1 and kind = 'accounts' and id = $2`;
      return (await system.database.query<{ name: string }>({ text, values: [company.id, account.id] })).rows[0]?.name;
    };
    await until('the name of the backup in billing', nameKept, (name) => name === account.name);

    // Events that may not have been sent are sent, undone events are not, and new events continue the sequence.
    await contact(unsent);
    const since = (id: string): number[] =>
      arrived()
        .slice(seen)
        .flatMap(([subject, sequence]) => (subject === id ? [sequence] : []));
    await until(
      'three webhooks',
      () => [since(unsent), since(waiting)],
      ([two, one]) => two?.length === 2 && one?.length === 1,
    );
    expect({ unsent: since(unsent), waiting: since(waiting), later: since(later) }).toEqual({ unsent: [1, 2], waiting: [1], later: [] });
    // Everything published now has a higher version than topics and consumers remember.
    await store(company, 'invoices', [{ ...invoice, status: 'VOIDED' }]);
    await store(company, 'accounts', [{ ...account, name: 'Renamed again' }]);
    expect(await reports()).not.toEqual(before);
    await until('the new name in billing', nameKept, (name) => name === 'Renamed again');
    expect((await command('verify')).code).toBe(0);
  },
  4 * MINUTES,
);
