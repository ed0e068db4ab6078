import { randomUUID } from 'node:crypto';
import { ProjectionServiceService } from '@truckroll/contract/gen/records/v1/projections';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { ServiceRequestCountServiceService } from '@truckroll/contract/gen/scheduling/v1/service_request_counts';
import { ServiceRequestChannel, ServiceRequestStatus as Status } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import type { Callers } from '@truckroll/grpc';
import { Database } from '@truckroll/postgres';
import { holdingLocks } from '@truckroll/testing';
import { intakeProjection, serviceRequests } from '../src/intake/tables.ts';
import { schema } from '../src/schema.ts';
import { twoIds } from './crew.ts';
import { startHarness, type Company, type Harness } from './harness.ts';
import * as line from './records.ts';

let harness: Harness;
let intake: Callers<typeof IntakeServiceService>;

beforeAll(async () => {
  harness = await startHarness();
  intake = harness.channel.client(IntakeServiceService);
}, 60_000);
afterAll(() => harness.stop());

async function record({ id: company_id }: Company, id: string = randomUUID()): Promise<string> {
  await intake.recordServiceRequest({ company_id, id, channel: ServiceRequestChannel.WEB });
  return id;
}

const move = ({ id: company_id }: Company, id: string, status: Status) => intake.changeServiceRequestStatus({ company_id, id, status });

const unbooked = async ({ id: company_id }: Company): Promise<number> =>
  (await harness.channel.client(ServiceRequestCountServiceService).countServiceRequests({ company_id })).unbooked;

/** Does what an update by an older release does: it does not say which rules it follows, and leaves the new column alone. */
const olderRelease = (assignments: string, company: Company) =>
  harness.database.query({ text: `update service_requests set ${assignments} where company_id = $1`, values: [company.id] });

/** While `work` runs, the service does not project rows again. */
async function withoutReprojector<T>(work: () => Promise<T>): Promise<T> {
  const session = await harness.database.session();
  try {
    await session.query({ text: `select pg_advisory_lock(hashtextextended('projections of ' || current_schema(), 0))` });
    return await work();
  } finally {
    await session.close();
  }
}

test('counts requests that are new or contacted, of the company alone', async () => {
  const [company, other, none] = [harness.company(), harness.company(), harness.company()];
  const job = line.job();
  const visit = line.visit({ job_id: job['id'] });
  await company.store('jobs', job);
  await company.store('job-appointments', visit);
  const [, contacted, closed, booked] = [await record(company), await record(company), await record(company), await record(company)];
  await record(other);
  expect([await unbooked(company), await unbooked(other), await unbooked(none)]).toEqual([4, 1, 0]);
  await move(company, contacted, Status.CONTACTED);
  expect(await unbooked(company)).toBe(4);
  await move(company, closed, Status.CLOSED);
  await intake.bookServiceRequest({ company_id: company.id, id: booked, job_id: job['id'], appointment_id: visit['id'] });
  expect([await unbooked(company), await unbooked(other)]).toEqual([2, 1]);
});

test('counts requests that were recorded at once', async () => {
  const company = harness.company();
  await Promise.all(Array.from({ length: 40 }, () => record(company)));
  expect(await unbooked(company)).toBe(40);
});

test('is unavailable from a write by an older release until the rows have been projected again, for that company only', async () => {
  const [company, other] = [harness.company(), harness.company()];
  await record(company);
  await move(company, await record(company), Status.CANCELED);
  await record(other);
  await withoutReprojector(async () => {
    await olderRelease('unbooked = not unbooked', company);
    await expect(unbooked(company)).rejects.toMatchObject({ status: 503, retryAfterSeconds: 2 });
    expect(await unbooked(other)).toBe(1);
  });
  for await (const _ of harness.channel.client(ProjectionServiceService).reproject({ path: 'service-requests' }));
  expect(await unbooked(company)).toBe(1);
});

test('locks the service requests that it projects again in the order of their ids', async () => {
  const company = harness.company();
  const [low, high] = twoIds();
  for (const id of [high, low]) await record(company, id);
  // Without an index, rows come in the order in which they were stored.
  const settings = { ...schema.settings, enable_indexscan: 'off', enable_indexonlyscan: 'off', enable_bitmapscan: 'off' };
  const scanning = new Database({ ...harness.database.options, settings });
  await withoutReprojector(async () => {
    await olderRelease('unbooked = not unbooked', company);
    await holdingLocks(harness.database.options, async (holder) => {
      await holder.run('select from service_requests where id = $1 for no key update', [low]);
      const work = { signal: new AbortController().signal, renewed: () => undefined, refused: () => undefined, rest: async () => undefined };
      const renewed = intakeProjection(scanning, serviceRequests).renew(work);
      expect(await holder.waiting(1, renewed)).toBe(true);
      expect(await holder.isFree('service_requests', high)).toBe(true);
      await holder.rollback();
      await renewed;
    });
  });
  await scanning.close();
  expect(await unbooked(company)).toBe(2);
});

test('ends a pass of an older release, whose rows would be found again without end', async () => {
  const company = harness.company();
  await record(company);
  const stop = new AbortController();
  let batches = 0;
  const renewed = (): void => void (++batches > 1 && stop.abort(new Error('the pass goes on')));
  await withoutReprojector(async () => {
    await olderRelease('unbooked = not unbooked', company);
    const pass = intakeProjection(harness.database, serviceRequests).renew({
      signal: stop.signal,
      renewed,
      refused: () => undefined,
      rest: async () => undefined,
    });
    await expect(pass).rejects.toMatchObject({ status: 503, message: expect.stringMatching(/later release/) });
  });
});
