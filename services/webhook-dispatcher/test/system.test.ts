// End to end: from a record in the company's systems through scheduling's outbox, Kafka, this dispatcher and integrations to an
// integrator's server, which verifies the signature.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { publicEvents } from '@truckroll/contract';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import type { Service } from '@truckroll/process';
import { testCaller } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { Webhook } from 'standardwebhooks';
import { eventViolations } from '../../../test/support/openapi.ts';
import * as line from '../../scheduling/test/records.ts';
import { startSystem, type System, type TestCompany } from '../../../test/support/system.ts';
import { startReceiver, type Receiver } from './support/receiver.ts';

const HOOKS = '/api/v1/integrations/webhooks';
const TYPES = ['service_request.created', 'service_request.status_changed', 'service_request.booked', 'interaction.completed'];

let receiver: Receiver;
let system: System;
let company: TestCompany;
let dispatcher: Service;
let status = 204;

beforeAll(async () => {
  receiver = await startReceiver((response) => response.writeHead(status).end());
  system = await startSystem({ webhookAllowedTargets: [receiver.target] });
  company = await system.createCompany();
  dispatcher = await system.startDispatcher();
}, 60_000);
afterAll(async () => {
  await system.stop();
  await receiver.close();
});
afterEach(async () => {
  status = 204;
  receiver.received.length = 0;
  const { data } = await call('GET', HOOKS);
  for (const { id } of data) await call('DELETE', `${HOOKS}/${id}`);
});

async function call(method: string, path: string, body?: object): Promise<any> {
  const headers = { authorization: `Bearer ${system.userToken(company)}`, 'content-type': 'application/json' };
  const response = await fetch(`${system.baseUrl}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

const createEndpoint = async (url = receiver.url): Promise<any> => (await call('POST', HOOKS, { name: 'Lead sync', url, eventTypes: TYPES })).data;
const intake = () => system.channel('scheduling').client(IntakeServiceService);

async function record(): Promise<string> {
  const id = randomUUID();
  await intake().recordServiceRequest({
    company_id: company.id,
    id,
    channel: 'SERVICE_REQUEST_CHANNEL_PHONE',
    summary: 'AC “not cooling”',
    contact_name: 'Marisol Núñez',
  } as never);
  return id;
}

const deliveriesOf = async (id: string): Promise<any[]> => (await call('GET', `${HOOKS}/${id}/deliveries`)).data;

test('delivers events in order and signed, and logs them with request and answer', async () => {
  const endpoint = await createEndpoint();
  const id = await record();
  await intake().changeServiceRequestStatus({ company_id: company.id, id, status: 'SERVICE_REQUEST_STATUS_CONTACTED' } as never);
  await intake().changeServiceRequestStatus({ company_id: company.id, id, status: 'SERVICE_REQUEST_STATUS_CLOSED', closed_reason: 'Duplicate' } as never);
  await receiver.until(3);
  const verifier = new Webhook(endpoint.signingSecret);
  const events = receiver.received.map(({ body, headers }) => verifier.verify(body, headers) as Record<string, any>);
  expect(events.map(({ type, sequence, company_id, data }) => [type, sequence, company_id, data.id, data.status, data.previous_status])).toEqual([
    ['service_request.created', 1, company.id, id, 'NEW', undefined],
    ['service_request.status_changed', 2, company.id, id, 'CONTACTED', 'NEW'],
    ['service_request.status_changed', 3, company.id, id, 'CLOSED', 'CONTACTED'],
  ]);
  expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual(events.map((event) => event.id));
  const log = await until(
    'three deliveries',
    () => deliveriesOf(endpoint.id),
    (rows) => rows.length === 3 && rows.every((row) => row.status === 'succeeded'),
  );
  expect(log[0].attempts).toHaveLength(1);
  expect(log.map((row) => [row.subject, row.subjectNumber, row.customerName])).toEqual(events.map(({ data }) => [id, data.number, data.contact_name]));
  const { data: listed } = await call('GET', `${HOOKS}/${endpoint.id}`);
  expect(listed.lastDeliveryStatus).toBe('succeeded');
});

test('delivers every type of event as its published schema describes it', async () => {
  const account = line.account();
  const job = line.job({ account: line.ref(account['id'], account['name']) });
  const visit = line.visit({ job_id: job['id'] });
  await system.importRecords(company, 'accounts', [account]);
  await system.importRecords(company, 'jobs', [job]);
  await system.importRecords(company, 'job-appointments', [visit]);
  const endpoint = await createEndpoint();
  const id = await record();
  await intake().bookServiceRequest({ company_id: company.id, id, job_id: job['id'], appointment_id: visit['id'] });
  const interaction = {
    company_id: company.id,
    id: randomUUID(),
    channel: 'INTERACTION_CHANNEL_CALL',
    direction: 'INTERACTION_DIRECTION_INBOUND',
    account_id: account['id'],
  };
  await intake().recordInteraction({ ...interaction, service_request_id: id, started_at: Date.now() * 1000 - 5_000_000, ended_at: Date.now() * 1000 } as never);
  await call('POST', `${HOOKS}/${endpoint.id}/test`);
  await receiver.until(publicEvents.length);
  const bodies = receiver.received.map(({ body }) => JSON.parse(body) as { type: string });
  expect(bodies.map(({ type }) => type).toSorted()).toEqual(publicEvents.map(({ type }) => type).toSorted());
  expect(bodies.map((body) => [body.type, ...eventViolations(body.type, body)])).toEqual(bodies.map(({ type }) => [type]));
});

test('retries a failed delivery after some seconds with the same id and a new timestamp', async () => {
  status = 500;
  const endpoint = await createEndpoint();
  await record();
  await receiver.until(1);
  status = 204;
  await receiver.until(2);
  const [first, second] = receiver.received;
  expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
  expect(Number(second!.headers['webhook-timestamp'])).toBeGreaterThan(Number(first!.headers['webhook-timestamp']));
  expect(second!.body).toBe(first!.body);
  for (const { body, headers } of receiver.received) new Webhook(endpoint.signingSecret).verify(body, headers);
});

test('sends a test event at once despite an open circuit; its success closes the circuit and releases waiting deliveries', async () => {
  status = 500;
  const endpoint = await createEndpoint();
  const read = async () => (await call('GET', `${HOOKS}/${endpoint.id}`)).data.health;
  for (let i = 0; i < 6; i += 1) await record();
  const failing = await until('an open circuit', read, ({ circuit }) => circuit.state === 'open');
  expect(failing).toMatchObject({ state: 'failing', delivered: 0, lastSuccessAt: null, circuit: { nextTryAt: expect.any(String) } });
  // A failed test does not change the circuit.
  const { data: failed } = await call('POST', `${HOOKS}/${endpoint.id}/test`);
  await until(
    "the test's failure",
    () => deliveriesOf(endpoint.id),
    (rows) => rows.find(({ id }) => id === failed.id)?.progress === 'failed',
  );
  expect(await read()).toMatchObject({ state: 'failing', circuit: { state: expect.stringMatching(/open/) } });

  // Postpone all retries, so that only the test can close the circuit.
  await system.database.query({
    text: `update integrations.webhook_queue set due_at = now() + interval '1 hour' where endpoint_id = $1 and tried`,
    values: [endpoint.id],
  });
  status = 204;
  receiver.received.length = 0;
  await call('POST', `${HOOKS}/${endpoint.id}/test`);
  await receiver.until(1);
  expect(receiver.received.map(({ body }) => JSON.parse(body).type)[0]).toBe('webhook.test');
  const closed = await until('a closed circuit', read, (health) => health.circuit.state === 'closed');
  expect(closed).toMatchObject({ failingSince: null, lastSuccessAt: expect.any(String) });
  await until(
    'no pending delivery',
    () => deliveriesOf(endpoint.id),
    (rows) => rows.filter(({ progress }) => progress === 'pending').length === 0,
  );
});

test('sends what waited for a paused endpoint once and in order, over two dispatchers at its rate, with its headers', async () => {
  const secret = 'known to the receiver alone';
  const { id } = await createEndpoint();
  await call('PATCH', `${HOOKS}/${id}`, { state: 'PAUSED', maxPerSecond: 50, headers: [{ name: 'X-Api-Key', value: secret }] });
  const other = await system.startDispatcher();
  try {
    const subjects: string[] = [];
    for (let i = 0; i < 10; i++) {
      const subject = await record();
      subjects.push(subject);
      await intake().changeServiceRequestStatus({ company_id: company.id, id: subject, status: 'SERVICE_REQUEST_STATUS_CONTACTED' } as never);
      await intake().changeServiceRequestStatus({
        company_id: company.id,
        id: subject,
        status: 'SERVICE_REQUEST_STATUS_CLOSED',
        closed_reason: 'Duplicate',
      } as never);
    }
    // When a member joins the group, events of the test before may come again.
    const all = () => call('GET', `${HOOKS}/${id}/deliveries?limit=100`).then(({ data }) => data.filter((row: any) => subjects.includes(row.subject)));
    await until('the 30 deliveries of the paused endpoint', all, (rows: any[]) => rows.length === 30);
    expect((await all()).every(({ status: now, nextAttemptAt }: any) => now === 'pending' && nextAttemptAt === null)).toBe(true);
    expect(receiver.received).toEqual([]);
    await call('PATCH', `${HOOKS}/${id}`, { state: 'ENABLED' });
    const log = await until('the resumed deliveries', all, (rows: any[]) => rows.every(({ status: now }) => now === 'succeeded'));
    expect(new Set(receiver.received.map(({ headers }) => headers['x-api-key']))).toEqual(new Set([secret]));
    const bodies = receiver.received.map(({ body }) => JSON.parse(String(body)) as { data: { id: string }; sequence: number });
    const sent = subjects.map((subject) => bodies.filter(({ data }) => data.id === subject).map(({ sequence }) => sequence));
    expect(sent).toEqual(subjects.map(() => [1, 2, 3]));
    expect(JSON.stringify(log)).not.toContain(secret);
    expect(log[0].attempts[0].request.headers).toContainEqual({ name: 'x-api-key', value: '(hidden)' });
  } finally {
    await other.destroy();
  }
});

// Must stay the last test: after a member of a consumer group was killed, its successor may get events of earlier tests again.
test('sends the deliveries of a killed dispatcher long before their leases end', async () => {
  let exchanges = 0;
  // The first exchange never gets an answer.
  const slow = await startReceiver((response) => void ((exchanges += 1) > 1 && response.end()));
  const main = join(import.meta.dirname, '..', 'src', 'main.ts');
  const env = {
    ...process.env,
    ...system.dispatcherEnvironment,
    CALL_CREDENTIAL: testCaller('webhook-dispatcher').text,
    WEBHOOK_ALLOWED_TARGETS: slow.target,
    HOST: '127.0.0.1',
    PORT: '0',
    METRICS_PORT: '0',
    LOG_LEVEL: 'silent',
  };
  await dispatcher.destroy();
  const child = spawn(process.execPath, [main], { env, stdio: 'ignore' });
  try {
    await system.database.query({ text: 'update integrations.webhook_endpoints set url = $2 where id = $1', values: [(await createEndpoint()).id, slow.url] });
    await record();
    await slow.until(1);
    const { rows } = await system.database.query<{ until: number }>({ text: 'select leased_until as until from integrations.webhook_queue' });
    dispatcher = await system.startDispatcher({ WEBHOOK_ALLOWED_TARGETS: slow.target });
    child.kill('SIGKILL');
    await slow.until(2);
    expect(Date.now() * 1000).toBeLessThan(rows[0]!.until);
    const [first, second] = slow.received;
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
  } finally {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    await dispatcher.destroy();
    await slow.close();
  }
});
