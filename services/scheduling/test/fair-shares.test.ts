// One company's load must not delay others, and client input must not grow memory or metrics without limit.
import { randomUUID } from 'node:crypto';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { ServiceRequestChannel, ServiceRequestStatus as Status } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import type { Callers } from '@truckroll/grpc';
import { startHarness, type Harness } from './harness.ts';
import * as line from './records.ts';

let harness: Harness;
let intake: Callers<typeof IntakeServiceService>;

beforeAll(async () => {
  harness = await startHarness();
  intake = harness.channel.client(IntakeServiceService);
}, 60_000);
afterAll(() => harness.stop());

const record = async (company_id: string) =>
  (await intake.recordServiceRequest({ company_id, id: randomUUID(), channel: ServiceRequestChannel.WEB, summary: 'x'.repeat(200) })).service_request!;

async function whileNumbered<T>(companyId: string, work: () => Promise<T>): Promise<T> {
  return harness.database.transaction(async (tx) => {
    await tx.query({ text: 'select from service_request_numbers where company_id = $1 for update', values: [companyId] });
    return work();
  });
}

test('serves the company’s reads and all other companies while one waits for its numbers, and then assigns every number once', async () => {
  const [flood, other] = [harness.company(), harness.company()];
  const job = line.job();
  await flood.store('jobs', job);
  await record(flood.id);
  const recordings = await whileNumbered(flood.id, async () => {
    const waiting = Array.from({ length: 60 }, () => record(flood.id));
    expect(await flood.detail('jobs', job['id'])).toMatchObject({ id: job['id'] });
    await other.store('jobs', line.job());
    expect(await other.list('jobs')).toHaveLength(1);
    const { id, number } = await record(other.id);
    expect(number).toBe('SR-1');
    await intake.changeServiceRequestStatus({ company_id: other.id, id, status: Status.CONTACTED });
    return { waiting: Promise.all(waiting) };
  });
  const numbers = (await recordings.waiting).map(({ number }) => Number(number.slice(3)));
  expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, i) => i + 2));
});

test('refuses a company’s excess requests, and no other company’s, with 429 and Retry-After', async () => {
  const [flood, other] = [harness.company(), harness.company()];
  await record(flood.id);
  const outcomes = await whileNumbered(flood.id, async () => {
    const waiting = Array.from({ length: 300 }, () =>
      record(flood.id).then(
        () => ({ status: 200 }),
        (error: object) => error,
      ),
    );
    expect((await record(other.id)).number).toBe('SR-1');
    return { waiting: Promise.all(waiting) };
  });
  const all = await outcomes.waiting;
  const refused = all.filter((outcome) => (outcome as { status: number }).status !== 200);
  expect(refused.length).toBeGreaterThan(0);
  for (const error of refused) expect(error).toMatchObject({ status: 429, code: 'RATE_LIMITED', retryAfterSeconds: 1 });
  expect((await record(flood.id)).number).toBe(`SR-${302 - refused.length}`);
});

test('puts the number in the right place of a message of any length', async () => {
  const company_id = randomUUID();
  for (const length of [0, 20, 100, 2000]) {
    const id = randomUUID();
    const { service_request } = await intake.recordServiceRequest({
      company_id,
      id,
      channel: ServiceRequestChannel.WEB,
      contact_name: 'é'.repeat(length / 10) || null,
      summary: 'x'.repeat(length) || null,
    });
    expect((await intake.getServiceRequest({ company_id, id })).service_request).toEqual(service_request);
  }
});

test('counts all combinations of a list’s filters in one series of metrics', async () => {
  const company = harness.company();
  for (const job_class of [['SERVICE'], ['SERVICE', 'SALES']]) {
    for (const more of [{}, { stage: ['NEW'] }, { account_id: [randomUUID()] }]) await company.list('jobs', { job_class, ...more });
    await company.list('jobs', { job_class, starts_from: '2026-03-01' });
  }
  const { body } = await harness.metrics.render();
  const series = body.match(/(?<=db_client_operation_duration_seconds_count\{.*db_query_summary=")list_[^"]*/g) ?? [];
  expect(new Set(series)).toEqual(new Set(['list_jobs']));
});
