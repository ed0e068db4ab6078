import { randomUUID } from 'node:crypto';
import { topics } from '@truckroll/contract';
import { ServiceRequestCreated } from '@truckroll/contract/gen/events/v1/public_events';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { ServiceRequestChannel, type ServiceRequest } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import type { Callers } from '@truckroll/grpc';
import { Database } from '@truckroll/postgres';
import { until } from '@truckroll/testing/until';
import { batchedRecorder, type Recording } from '../src/intake/batch.ts';
import { startHarness, type Harness } from './harness.ts';

let harness: Harness;
let intake: Callers<typeof IntakeServiceService>;

beforeAll(async () => {
  harness = await startHarness();
  intake = harness.channel.client(IntakeServiceService);
}, 60_000);
afterAll(() => harness.stop());

const asked = (company_id: string, summary: string, id: string = randomUUID()) => ({ company_id, id, channel: ServiceRequestChannel.WEB, summary });
const record = async (request: ReturnType<typeof asked>, requestId: string = randomUUID()): Promise<ServiceRequest> =>
  (await intake.recordServiceRequest(request, { requestId })).service_request as ServiceRequest;

async function held<T>(work: () => readonly Promise<T>[]): Promise<PromiseSettledResult<T>[]> {
  const outcomes = await harness.database.transaction(async (tx) => {
    await tx.query({ text: 'lock table service_requests in share mode' });
    const all = Promise.allSettled(work());
    const waiting = { text: `select from pg_locks where not granted and relation = 'service_requests'::regclass` };
    await until('the recordings to wait', async () => (await tx.query(waiting)).rowCount > 0);
    await intake.getServiceRequest({ company_id: randomUUID(), id: randomUUID() }).catch(() => undefined);
    return { all };
  });
  return outcomes.all;
}

test('stores recordings that arrive during another one in one transaction, numbered without gaps, each with the right event', async () => {
  const companies = [randomUUID(), randomUUID()];
  for (const company of companies) await record(asked(company, 'the first'));
  const requests = companies.flatMap((company) =>
    Array.from({ length: 10 }, (_, index) => ({ ...asked(company, `number ${index}`), requestId: randomUUID() })),
  );
  const outcomes = await held(() => requests.map(({ requestId, ...request }) => record(request, requestId)));
  expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([]);
  const stored = outcomes.map((outcome) => (outcome as PromiseFulfilledResult<ServiceRequest>).value);
  const { rows: kept } = await harness.database.query<{ id: string; document: Buffer; xmin: string }>({
    text: 'select id, document, xmin::text from service_requests where company_id = any($1::uuid[])',
    values: [companies],
  });
  // At least two were stored together. The first of each company, and those under way when the table was locked, were stored alone.
  expect(new Set(kept.map(({ xmin }) => xmin)).size).toBeLessThan(kept.length);
  const { rows: events } = await harness.database.query<{ payload: Buffer; request_id: string; company_id: string }>({
    text: `select payload, request_id, company_id from outbox where company_id = any($1::uuid[]) and topic = $2 order by id`,
    values: [companies, topics.serviceRequests.name],
  });
  for (const company of companies) {
    const own = stored.filter((_, index) => requests[index]!.company_id === company);
    expect(own.map(({ number }) => Number(number.slice(3))).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 10 }, (_, index) => index + 2));
    const published = events.filter(({ company_id }) => company_id === company).map(({ payload }) => ServiceRequestCreated.decode(payload).data!);
    expect(published.map(({ number }) => number)).toEqual(Array.from({ length: 11 }, (_, index) => `SR-${index + 1}`));
  }
  for (const [index, { requestId, company_id, id, summary }] of requests.entries()) {
    const event = events.find(({ request_id }) => request_id === requestId)!;
    expect(ServiceRequestCreated.decode(event.payload)).toMatchObject({ company_id, sequence: 1, data: { id, summary, number: stored[index]!.number } });
    expect((await intake.getServiceRequest({ company_id, id })).service_request).toEqual(stored[index]);
    await expect(record({ company_id, id, summary, channel: ServiceRequestChannel.WEB })).resolves.toEqual(stored[index]);
  }
});

test('records an id that arrives twice at once only once, and refuses it with different content', async () => {
  const company = randomUUID();
  await record(asked(company, 'the first'));
  const request = asked(company, 'twice');
  const outcomes = await held(() => [record(request), record(request), record({ ...request, summary: 'another' }), record(asked(company, 'beside'))]);
  const [first, second, other, beside] = outcomes as PromiseFulfilledResult<ServiceRequest>[];
  expect(second).toEqual(first);
  expect(other).toMatchObject({ status: 'rejected', reason: { status: 409 } });
  expect([first!.value.number, beside!.value.number].toSorted()).toEqual(['SR-2', 'SR-3']);
});

const recording = (companyId: string, topic: string | null = topics.serviceRequests.name): Recording => ({
  companyId,
  id: randomUUID(),
  createdAt: 0,
  before: Buffer.of(0x12),
  after: Buffer.alloc(0),
  fingerprint: Buffer.alloc(0),
  head: Buffer.alloc(0),
  event: { event_id: randomUUID(), topic, key: 'key', type: 'type', trace: null, request_id: null } as unknown as Recording['event'],
});

test('leaves a recording that PostgreSQL refuses, and those with it, to be recorded alone, but no outage', async () => {
  const company = randomUUID();
  await record(asked(company, 'the first'));
  const batched = batchedRecorder(harness.database);
  expect(await Promise.all([batched(recording(company, null)), batched(recording(company))])).toEqual([undefined, undefined]);
  expect(await batched(recording(company))).toEqual({ number: 'SR-2' });
  const away = new Database({ url: 'postgres://127.0.0.1:1/none', schema: 'scheduling', maxConnections: 1 });
  await expect(batchedRecorder(away)(recording(company))).rejects.toMatchObject({ status: 503 });
  await away.close();
});

test.each([
  ['32 slots to a company alone', false, 32],
  ['2 slots to a company while another one records', true, 2],
])('gives %s, and refuses what comes once a hundred are queued', async (_, beside, slots) => {
  const [company, other] = [randomUUID(), randomUUID()];
  for (const id of [company, other]) await record(asked(id, 'the first'));
  const batched = batchedRecorder(harness.database);
  const outcomes = await held(() => [
    ...(beside ? [batched(recording(other))] : []),
    ...Array.from({ length: slots + 101 }, () => batched(recording(company))),
  ]);
  expect(outcomes.filter(({ status }) => status === 'rejected')).toMatchObject([{ reason: { code: 'RATE_LIMITED', status: 429 } }]);
});

test('records requests of two companies with the same id together', async () => {
  const companies = [randomUUID(), randomUUID()];
  for (const company of companies) await record(asked(company, 'the first'));
  const batched = batchedRecorder(harness.database);
  const { id } = recording(companies[0]!);
  expect(await Promise.all(companies.map((company) => batched({ ...recording(company), id })))).toEqual([{ number: 'SR-2' }, { number: 'SR-2' }]);
});
