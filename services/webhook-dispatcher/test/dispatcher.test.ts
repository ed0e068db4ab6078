import { randomBytes, randomUUID } from 'node:crypto';
import { ApiError, codec, formatInstant, shapeNamed, topics } from '@truckroll/contract';
import { createKafka, ensureTopics, type IncomingEvent, type KafkaClient } from '@truckroll/outbox';
import type { Service } from '@truckroll/process';
import { silentLog } from '@truckroll/telemetry';
import { openProducer, testCaller, testConfig } from '@truckroll/testing';
import { Webhook } from 'standardwebhooks';
import { webhookDispatcherConfig } from '../src/config.ts';
import { createWebhookDispatcher, type Surroundings } from '../src/webhook-dispatcher.ts';
import { Deliveries } from './support/deliveries.ts';
import { startReceiver, type Answer, type Receiver } from './support/receiver.ts';

const company = randomUUID();
const open: (() => Promise<unknown>)[] = [];
let deliveries: Deliveries;
let kafka: KafkaClient;
let prefix: string;

beforeEach(async () => {
  deliveries = new Deliveries();
  await deliveries.start();
  prefix = `${randomBytes(4).toString('hex')}.`;
  kafka = createKafka('test', { kafkaBrokers: brokers(), kafkaPrefix: prefix }, silentLog);
});
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
  await deliveries.stop();
});

function brokers(): string[] {
  return process.env['KAFKA_BROKERS']!.split(',');
}

const own = testCaller('webhook-dispatcher');

async function receiver(answer?: Answer): Promise<Receiver> {
  const started = await startReceiver(answer);
  open.push(() => started.close());
  return started;
}

async function dispatcher(receivers: readonly Receiver[], settings: object = {}, surroundings: Surroundings = {}): Promise<Service> {
  const environment = {
    CALL_CREDENTIAL: own.text,
    INTEGRATIONS_ADDRESS: deliveries.address,
    KAFKA_BROKERS: brokers().join(),
    KAFKA_PREFIX: prefix,
    WEBHOOK_ALLOWED_TARGETS: receivers.map(({ target }) => target).join(),
  };
  const service = createWebhookDispatcher({ ...webhookDispatcherConfig(environment), ...testConfig, callCredential: own, ...settings }, surroundings);
  await service.start();
  open.push(() => service.destroy());
  return service;
}

/** An event as scheduling publishes it. */
function message(sequence: number, summary: string, subject = randomUUID()) {
  const [id, type, at] = [randomUUID(), 'service_request.created', Date.now() * 1000];
  const data = {
    id: subject,
    number: 'SR-1',
    status: 'SERVICE_REQUEST_STATUS_NEW',
    channel: 'SERVICE_REQUEST_CHANNEL_PHONE',
    summary,
    created_at: at,
    updated_at: at,
  };
  const event = { id, type, timestamp: at, company_id: company, sequence, data };
  const value = Buffer.from(
    codec('truckroll.events.v1.ServiceRequestCreated')
      .encode(event as never)
      .finish(),
  );
  const headers = {
    ce_id: id,
    ce_type: type,
    ce_source: '/truckroll/scheduling',
    ce_time: formatInstant(at),
    ce_companyid: company,
    ce_version: String(sequence),
    ce_sequence: String(sequence),
  };
  return { id, key: `${company}/${subject}`, value, headers };
}

async function publish(messages: readonly object[]): Promise<void> {
  await ensureTopics(kafka, [{ ...topics.serviceRequests, partitions: 2 }], silentLog, new AbortController().signal);
  const producer = await openProducer(kafka);
  await producer.send({ topic: prefix + topics.serviceRequests.name, messages: messages as never });
  await producer.disconnect();
}

function due(count: number, endpoint: ReturnType<Deliveries['endpoint']>, company_id = company): void {
  for (let i = 0; i < count; i += 1) {
    const event = {
      id: randomUUID(),
      type: 'interaction.completed',
      company_id,
      subject: randomUUID(),
      sequence: 1,
      timestamp: Date.now() * 1000,
      body: Buffer.from(`{"n":${i}}`),
    };
    deliveries.add(event, [endpoint]);
  }
}

test('sends an event from the topic to every endpoint, signed, as the documented JSON', async () => {
  const there = await receiver();
  const endpoint = deliveries.endpoint(there.url);
  const sent = message(1, 'AC — "not" cooling');
  await publish([sent]);
  await dispatcher([there]);
  await deliveries.until(() => deliveries.reports.length === 1);

  const [got] = there.received;
  const verified = new Webhook(`whsec_${endpoint.secret.toString('base64')}`).verify(got!.body, got!.headers) as Record<string, any>;
  expect(Object.keys(verified)).toEqual(['id', 'type', 'timestamp', 'company_id', 'sequence', 'data']);
  expect(verified).toMatchObject({
    id: sent.id,
    type: 'service_request.created',
    company_id: company,
    sequence: 1,
    data: { status: 'NEW', summary: 'AC — "not" cooling', job_id: null },
  });
  expect(got!.headers).toMatchObject({ 'webhook-id': sent.id, 'content-type': 'application/json' });
  expect(deliveries.reports[0]).toMatchObject({ response_status: 200, error: 'ATTEMPT_ERROR_UNSPECIFIED', resolved_address: '127.0.0.1' });
  const { started_at: from, ended_at: to } = deliveries.reports[0]!;
  expect(Math.floor(from / 1e6)).toBe(Number(got!.headers['webhook-timestamp']));
  expect(to).toBeGreaterThanOrEqual(from);
});

test('moves on in the topic only after storing events, and makes dead letters, with the reason, of events that can never be stored', async () => {
  const there = await receiver();
  deliveries.endpoint(there.url);
  let refusals = 3;
  deliveries.before = (call, request) => {
    if (call !== 'fanOut') return;
    if (refusals-- > 0) throw ApiError.unavailable(undefined);
    if ((request as { events: { sequence: number }[] }).events.some(({ sequence }) => sequence === 2)) throw ApiError.invalid([]);
  };
  const subject = randomUUID();
  const [first, refused, last] = [1, 2, 3].map((sequence) => message(sequence, 'x', subject));
  const broken = { ...message(9, 'x', subject), value: Buffer.from([0xff, 0xff]) };
  const unknown = message(9, 'x', subject);
  unknown.headers.ce_type = 'service_request.sneezed';
  await publish([first!, broken, unknown, refused!, last!]);
  await dispatcher([there]);
  await deliveries.until(() => deliveries.reports.length === 2);
  expect(deliveries.fanned.map(({ id, sequence, subject: of }) => [id, sequence, of])).toEqual([
    [first!.id, 1, subject],
    [last!.id, 3, subject],
  ]);
  expect(deliveries.letters.map(({ event_id, type, key, reason }) => [event_id, type, key, reason])).toEqual([
    [broken.id, 'service_request.created', `${company}/${subject}`, expect.any(String)],
    [unknown.id, 'service_request.sneezed', `${company}/${subject}`, 'this release does not know the type'],
    [refused!.id, 'service_request.created', `${company}/${subject}`, expect.stringContaining('not valid')],
  ]);
  expect([...deliveries.letters[1]!.payload!]).toEqual([...unknown.value]);
});

test('keeps an event with an unknown field, whole, for a newer release, and sends later events of the subject', async () => {
  const there = await receiver();
  deliveries.endpoint(there.url);
  const subject = randomUUID();
  const [first, second, third] = [1, 2, 3].map((sequence) => message(sequence, 'x', subject));
  // An event of the next release of scheduling: the service request has a field that this release does not know.
  const newer = { ...second!, value: withField(second!.value, 'data', 4242, 'of the next release') };
  await publish([first!, newer, third!]);
  const older = await dispatcher([there]);
  await deliveries.until(() => deliveries.reports.length === 2 && deliveries.letters.length === 1);
  expect(there.received.map(({ headers }) => headers['webhook-id'])).toEqual([first!.id, third!.id]);
  expect(deliveries.letters).toMatchObject([{ event_id: newer.id, sequence: 2, reason: 'this release does not know data.#4242' }]);

  // After a restart the old release still cannot read it.
  await older.destroy();
  deliveries.lettersReadTo = 0;
  const again = await dispatcher([there]);
  await deliveries.until(() => deliveries.lettersReadTo === 1);
  expect([deliveries.resumed.size, deliveries.letters.length]).toEqual([0, 1]);
  await again.destroy();

  const read = (event: IncomingEvent) => ({
    id: event.id,
    type: event.type,
    company_id: company,
    subject,
    sequence: event.sequence!,
    timestamp: event.time,
    body: Buffer.from(JSON.stringify({ id: event.id, size: event.payload!.length })),
  });
  await dispatcher([there], {}, { read });
  await there.until(3);
  expect(JSON.parse(there.received[2]!.body)).toEqual({ id: newer.id, size: newer.value.length });
  expect([...deliveries.resumed]).toEqual([1]);
});

/** Adds a text field with the given number to the submessage `field` of an event's payload. */
function withField(payload: Uint8Array, field: string, number: number, text: string): Buffer {
  const varint = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)]);
  const delimited = (of: number, bytes: Uint8Array) => Buffer.from([...varint((of << 3) | 2), ...varint(bytes.length), ...bytes]);
  const shape = shapeNamed('truckroll.events.v1.ServiceRequestCreated');
  // Protobuf merges repeated occurrences of a submessage, so the addition can be appended.
  return Buffer.concat([payload, delimited(shape.byName.get(field)!.number, delimited(number, Buffer.from(text)))]);
}

test('serves a healthy endpoint although more endpoints hang than there are slots', async () => {
  const well = await receiver();
  const hanging = await receiver(() => undefined);
  for (let i = 0; i < 8; i += 1) due(4, deliveries.endpoint(hanging.url));
  const healthy = deliveries.endpoint(well.url);
  // The company gets half of the slots.
  await dispatcher([well, hanging], { maxInFlight: 16, maxInFlightPerEndpoint: 4 });
  await hanging.until(8);
  due(30, healthy);
  await deliveries.until(() => deliveries.reportsOf(healthy).length === 30);
  expect(deliveries.reports).toHaveLength(30);
  // Ends the hanging exchanges, which stopping would wait for.
  await hanging.close();
});

test('leaves slots for another company when one company has many endpoints that hang', async () => {
  const well = await receiver();
  const hanging = await receiver(() => undefined);
  const greedy = randomUUID();
  for (let i = 0; i < 20; i += 1) due(4, deliveries.endpoint(hanging.url), greedy);
  const healthy = deliveries.endpoint(well.url);
  await dispatcher([well, hanging], { maxInFlight: 4, maxInFlightPerEndpoint: 4 });
  // Half of the slots, and as many again once those exchanges are slow.
  await hanging.until(4);
  due(30, healthy, randomUUID());
  await deliveries.until(() => deliveries.reportsOf(healthy).length === 30);
  expect(deliveries.reports).toHaveLength(30);
  await hanging.close();
});

test('limits connections to one address across endpoints, and leaves some for another company', async () => {
  const hanging = await receiver(() => undefined);
  for (let i = 0; i < 20; i += 1) due(1, deliveries.endpoint(hanging.url));
  await dispatcher([hanging], { maxConnectionsPerAddress: 4 });
  await hanging.until(2);
  due(1, deliveries.endpoint(hanging.url), randomUUID());
  await hanging.until(3);
  expect(hanging.received[2]!.headers['webhook-id']).toBe(deliveries.fanned.at(-1)!.id);
  await hanging.close();
});

test('sends nothing to a denied target', async () => {
  const there = await receiver();
  due(1, deliveries.endpoint(there.url));
  await dispatcher([there], { deniedTargets: ['127.0.0.0/8'] });
  await deliveries.until(() => deliveries.reports.length === 1);
  expect([deliveries.reports[0]!.error, there.connections]).toEqual(['ATTEMPT_ERROR_FORBIDDEN_TARGET', 0]);
});

test('keeps the slot of a company taken in proportion to the CPU time of its answers', async () => {
  // 960 KB in one-byte chunks.
  const costly = await receiver((response) => {
    response.socket!.end(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(160_000)}0\r\n\r\n`);
  });
  const endpoint = deliveries.endpoint(costly.url);
  // One at a time: each delivery is leased after the previous delivery has been reported.
  due(5, endpoint);
  await dispatcher([costly], { maxInFlight: 1000, maxInFlightPerEndpoint: 1 });
  await deliveries.until(() => deliveries.reportsOf(endpoint).length > 0);
  const asked = deliveries.leases.length;
  const namingBusy = () => deliveries.leases.slice(asked).find(({ busy_companies }) => busy_companies.length > 0);
  await deliveries.until(() => namingBusy() !== undefined);
  expect(namingBusy()!.busy_companies.map(({ company_id: id }) => id)).toEqual([company]);
  expect(deliveries.reports[0]).toMatchObject({ response_status: 200, error: 'ATTEMPT_ERROR_UNSPECIFIED', response_truncated: true });
});

test.each([503, 302])('opens the circuit of an endpoint that answers %i five times, then tests it with one exchange', async (status) => {
  let failing = true;
  const there = await receiver((response) => response.writeHead(failing ? status : 200, { location: '/elsewhere' }).end());
  const endpoint = deliveries.endpoint(there.url);
  due(5, endpoint);
  await dispatcher([there], { maxInFlightPerEndpoint: 5 });
  await deliveries.until(() => deliveries.leases.some(({ excluded_endpoint_ids: ids }) => ids.includes(endpoint.id)));
  expect(there.received).toHaveLength(5);
  failing = false;
  due(20, endpoint);
  await deliveries.until(() => deliveries.reportsOf(endpoint).length === 25);
  expect(deliveries.leases.at(-1)!.excluded_endpoint_ids).toEqual([]);
});

test('finishes and reports exchanges that have begun when it stops', async () => {
  let finish = () => undefined as void;
  const there = await receiver((response) => void (finish = () => void response.end()));
  due(1, deliveries.endpoint(there.url));
  const service = await dispatcher([there]);
  await there.until(1);
  const stopped = service.destroy();
  finish();
  await stopped;
  expect(deliveries.reports).toMatchObject([{ response_status: 200 }]);
});

test('shows integrations that it is alive, as the worker that leases, and says last that it leaves', async () => {
  const service = await dispatcher([]);
  await deliveries.until(() => deliveries.renewals.length >= 2 && deliveries.leases.length > 0);
  await service.destroy();
  const { worker_id } = deliveries.leases[0]!;
  const [last, ...earlier] = deliveries.renewals.toReversed();
  expect(last).toEqual({ worker_id, leaving: true });
  expect(earlier).toEqual(earlier.map(() => ({ worker_id, leaving: false })));
});

test('reports an attempt again until it is stored', async () => {
  const there = await receiver();
  due(1, deliveries.endpoint(there.url));
  let failures = 2;
  deliveries.before = (call) => {
    if (call === 'report' && failures-- > 0) throw ApiError.unavailable(undefined);
  };
  await dispatcher([there]);
  await deliveries.until(() => deliveries.reports.length === 1);
  expect(there.received).toHaveLength(1);
});

test('is ready only while deliveries can be leased', async () => {
  const service = createWebhookDispatcher({
    ...webhookDispatcherConfig({ CALL_CREDENTIAL: own.text, INTEGRATIONS_ADDRESS: deliveries.address, KAFKA_BROKERS: brokers().join(), KAFKA_PREFIX: prefix }),
    ...testConfig,
    callCredential: own,
  });
  const { metricsPort } = await service.start();
  open.push(() => service.destroy());
  const ready = async () => (await fetch(`http://127.0.0.1:${metricsPort}/readyz`)).status;
  await deliveries.until(() => deliveries.leases.length >= 2);
  expect(await ready()).toBe(200);
  let refused = 0;
  deliveries.before = (call) => {
    if (call === 'lease') refused += 1;
    throw ApiError.unavailable(undefined);
  };
  for (let status = 200; status !== 503; ) status = await ready();
  expect(refused).toBeGreaterThan(0);
});

test('refuses a configuration with host names instead of addresses', () => {
  const environment = { CALL_CREDENTIAL: own.text, INTEGRATIONS_ADDRESS: 'x:1', KAFKA_BROKERS: 'x:1', WEBHOOK_ALLOWED_TARGETS: '127.0.0.1:80,sink:4567' };
  expect(() => webhookDispatcherConfig(environment)).toThrow(/WEBHOOK_ALLOWED_TARGETS.*sink:4567/);
  const denied = { ...environment, WEBHOOK_ALLOWED_TARGETS: '', WEBHOOK_DENIED_TARGETS: '10.0.0.0/8,intranet' };
  expect(() => webhookDispatcherConfig(denied)).toThrow(/WEBHOOK_DENIED_TARGETS.*"intranet"/);
});
