// Each test fails without its lock, or with another order of locks.
import { randomUUID } from 'node:crypto';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { InteractionChannel, InteractionDirection } from '@truckroll/contract/gen/scheduling/v1/interactions';
import { ServiceRequestChannel, ServiceRequestStatus as Status } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import type { Callers } from '@truckroll/grpc';
import { holdingLocks, type LockHolder } from '@truckroll/testing';
import { crewOf, twoIds, type Crew } from './crew.ts';
import { startHarness, type Harness } from './harness.ts';

let harness: Harness;
let crew: Crew;
let intake: Callers<typeof IntakeServiceService>;
beforeAll(async () => {
  harness = await startHarness();
  crew = await crewOf(harness);
  intake = harness.channel.client(IntakeServiceService);
}, 60_000);
afterAll(() => harness.stop());

const holding = <T>(work: (holder: LockHolder) => Promise<T>): Promise<T> => holdingLocks(harness.database.options, work);

/** Rows of the table can be locked and not changed. */
const freeze = (holder: LockHolder, table: string): Promise<unknown> => holder.run(`lock table ${table} in share mode`);

const named = (id: string) => ({ company_id: crew.company.id, id });

async function recorded(id: string = randomUUID()): Promise<string> {
  await intake.recordServiceRequest({ ...named(id), channel: ServiceRequestChannel.WEB, summary: 'AC not cooling' });
  return id;
}
const move = (id: string, status: Status) => intake.changeServiceRequestStatus({ ...named(id), status, closed_reason: null });
const statusOf = async (id: string) => (await intake.getServiceRequest(named(id))).service_request?.status;

async function bookable() {
  const job = await crew.job();
  const visit = await crew.visit(job['id']);
  return { visit, book: (id: string) => intake.bookServiceRequest({ ...named(id), job_id: job['id'], appointment_id: visit.id }) };
}

const CONFLICT = { status: 'rejected', reason: { status: 409 } };

test('a final status is not overwritten by a concurrent change', async () => {
  const id = await recorded();
  const outcomes = await holding(async (holder) => {
    await freeze(holder, 'service_requests');
    const first = move(id, Status.CANCELED);
    await holder.waiting(1, first);
    const second = move(id, Status.CONTACTED);
    await holder.waiting(2, second);
    await holder.rollback();
    return Promise.allSettled([first, second]);
  });
  expect(outcomes).toMatchObject([{ status: 'fulfilled' }, CONFLICT]);
  expect(await statusOf(id)).toBe(Status.CANCELED);
});

test('adding a technician does not revive a service request that another call is canceling', async () => {
  const { visit, book } = await bookable();
  const id = await recorded();
  await book(id);
  await holding(async (holder) => {
    await freeze(holder, 'service_requests');
    const canceled = move(id, Status.CANCELED);
    await holder.waiting(1, canceled);
    const added = crew.add(visit);
    await holder.waiting(2, added);
    await holder.rollback();
    await Promise.all([canceled, added]);
  });
  expect(await statusOf(id)).toBe(Status.CANCELED);
});

test('the service requests of a visit are locked in the order of their ids', async () => {
  const { visit, book } = await bookable();
  const [low, high] = twoIds();
  for (const id of [high, low]) await book(await recorded(id));
  await holding(async (holder) => {
    await holder.run('select from service_requests where id = $1 for no key update', [low]);
    const added = crew.add(visit);
    await holder.waiting(1, added);
    expect(await holder.isFree('service_requests', high)).toBe(true);
    await holder.rollback();
    await added;
  });
});

test('a booking locks its visit before its service request', async () => {
  const { visit, book } = await bookable();
  const id = await recorded();
  await holding(async (holder) => {
    await holder.run('select from job_appointments where id = $1 for no key update', [visit.id]);
    const booked = book(id);
    await holder.waiting(1, booked);
    expect(await holder.isFree('service_requests', id)).toBe(true);
    await holder.rollback();
    await booked;
  });
});

test('adding a technician during a booking schedules the service request', async () => {
  const { visit, book } = await bookable();
  const id = await recorded();
  await holding(async (holder) => {
    await freeze(holder, 'service_requests');
    const booked = book(id);
    await holder.waiting(1, booked);
    const added = crew.add(visit);
    await holder.waiting(2, added);
    await holder.rollback();
    await Promise.all([booked, added]);
  });
  expect(await statusOf(id)).toBe(Status.SCHEDULED);
});

describe('an interaction', () => {
  const interaction = (id: string) => ({ ...named(id), channel: InteractionChannel.CALL, direction: InteractionDirection.INBOUND });
  const completions = async (id: string): Promise<number> =>
    (await harness.database.query({ text: 'select from outbox where key = $1', values: [`${crew.company.id}/${id}`] })).rowCount;

  test('is completed by one of two concurrent callers', async () => {
    const id = randomUUID();
    await intake.recordInteraction(interaction(id));
    const outcomes = await holding(async (holder) => {
      await freeze(holder, 'interactions');
      const first = intake.completeInteraction({ ...named(id), outcome: 'answered' });
      await holder.waiting(1, first);
      const second = intake.completeInteraction({ ...named(id), outcome: 'voicemail' });
      await holder.waiting(2, second);
      await holder.rollback();
      return Promise.allSettled([first, second]);
    });
    expect(outcomes).toMatchObject([{ status: 'fulfilled', value: { interaction: { outcome: 'answered' } } }, CONFLICT]);
    expect(await completions(id)).toBe(1);
  });

  test('is recorded once for two concurrent callers, and both get it', async () => {
    const request = { ...interaction(randomUUID()), started_at: 1_772_380_800_000_000, ended_at: 1_772_380_860_000_000 };
    const [first, second] = await holding(async (holder) => {
      await freeze(holder, 'interactions');
      const both = [intake.recordInteraction(request), intake.recordInteraction(request)] as const;
      await holder.waiting(2, ...both);
      await holder.rollback();
      return Promise.all(both);
    });
    expect(second).toEqual(first);
    expect(await completions(request.id)).toBe(1);
  });
});
