import { randomUUID } from 'node:crypto';
import { JsonBuffer, JsonWriter, now, shapeNamed } from '@truckroll/contract';
import { AssignmentCommandServiceService } from '@truckroll/contract/gen/scheduling/v1/assignment_commands';
import { IntakeServiceService, type RecordInteractionRequest, type RecordServiceRequestRequest } from '@truckroll/contract/gen/scheduling/v1/intake';
import { InteractionChannel, InteractionDirection, InteractionStatus } from '@truckroll/contract/gen/scheduling/v1/interactions';
import type { Visit } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import { ServiceRequestChannel, ServiceRequestStatus as Status, type ServiceRequest } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import type { Callers } from '@truckroll/grpc';
import { startHarness, type Company, type Harness, type Json } from './harness.ts';
import * as line from './records.ts';

let harness: Harness;
let company: Company;
let intake: Callers<typeof IntakeServiceService>;
const account = line.account();
const job = line.job({ account: line.ref(account['id'], account['name']) });
const member = line.teamMember();

beforeAll(async () => {
  harness = await startHarness();
  company = harness.company();
  intake = harness.channel.client(IntakeServiceService);
  await company.store('accounts', account);
  await company.store('jobs', job);
  await company.store('team-members', member);
}, 60_000);
afterAll(() => harness.stop());

function asked(fields: Partial<RecordServiceRequestRequest> = {}): RecordServiceRequestRequest {
  return { company_id: company.id, id: randomUUID(), channel: ServiceRequestChannel.WEB, summary: 'AC not cooling', account_id: account['id'], ...fields };
}

async function recorded(fields: Partial<RecordServiceRequestRequest> = {}): Promise<ServiceRequest> {
  return (await intake.recordServiceRequest(asked(fields))).service_request as ServiceRequest;
}

const move = async (id: string, status: Status, closed_reason: string | null = null) =>
  (await intake.changeServiceRequestStatus({ company_id: company.id, id, status, closed_reason })).service_request as ServiceRequest;

async function visit(fields: Json = {}): Promise<Visit> {
  const record = line.visit({ job_id: job['id'], ...fields });
  await company.store('job-appointments', record);
  return company.detail('job-appointments', record['id']);
}

const book = async (id: string, on: Visit) =>
  (await intake.bookServiceRequest({ company_id: company.id, id, job_id: job['id'], appointment_id: on.id })).service_request as ServiceRequest;

const caller = () => ({ company_id: company.id, time_zone: 'America/Chicago', user_id: randomUUID() });
const commands = () => harness.channel.client(AssignmentCommandServiceService);
const add = async (to: Visit) =>
  (
    await commands().addAssignment({
      caller: caller(),
      idempotency_key: randomUUID(),
      expected_revision: to.revision,
      appointment_id: to.id,
      team_member_id: member['id'],
      starts_at: to.window_start_at,
      ends_at: to.window_end_at,
      allow_outside_window: false,
      customer_notification: null,
    })
  ).data as Visit;
const remove = async (from: Visit) =>
  (
    await commands().removeAssignment({
      caller: caller(),
      idempotency_key: randomUUID(),
      id: from.assignments[0]!.id,
      expected_revision: from.revision,
      customer_notification: null,
    })
  ).data as Visit;

/** Bodies of a subject's events as receivers get them, in the order of publication. */
async function events(subject: string): Promise<Json[]> {
  const { rows } = await harness.database.query<{ event_id: string; type: string; sequence: number; topic: string; payload: Buffer }>({
    text: 'select event_id, type, sequence, topic, payload from outbox where key = $1 order by id',
    values: [`${company.id}/${subject}`],
  });
  return rows.map(({ event_id, type, sequence, topic, payload }) => {
    expect(topic).toBe('truckroll.scheduling.service-requests');
    const name = type.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());
    const out = new JsonBuffer(1024);
    new JsonWriter().write(shapeNamed(`truckroll.events.v1.${name}`), payload, 0, payload.length, out);
    const body = JSON.parse(Buffer.from(out.bytes.subarray(0, out.length)).toString()) as Json;
    expect(body).toMatchObject({ id: event_id, type, sequence, company_id: company.id });
    return body;
  });
}
const story = async (subject: string) => (await events(subject)).map(({ type, data }) => `${type.split('.')[1]} ${data.previous_status ?? ''}→${data.status}`);

describe('recording a service request', () => {
  test('answers NEW with the latest names and the company’s next number, and publishes it once', async () => {
    const [first, second] = [await recorded(), await recorded()];
    expect(first).toMatchObject({
      status: Status.NEW,
      account: { id: account['id'], name: account['name'] },
      summary: 'AC not cooling',
      created_at: first.updated_at,
    });
    expect(Number(second.number.slice(3))).toBe(Number(first.number.slice(3)) + 1);
    const [event, ...more] = await events(first.id);
    expect(more).toEqual([]);
    expect(Object.keys(event!)).toEqual(['id', 'type', 'timestamp', 'company_id', 'sequence', 'data']);
    expect(event).toMatchObject({
      type: 'service_request.created',
      sequence: 1,
      data: { id: first.id, status: 'NEW', channel: 'WEB', account: { name: account['name'] }, booked_at: null },
    });
  });

  test('answers a repeated request as the first time, even after a status change and from many callers at once', async () => {
    const request = asked();
    const answers = await Promise.all(Array.from({ length: 8 }, () => intake.recordServiceRequest(request)));
    await move(request.id, Status.CONTACTED);
    answers.push(await intake.recordServiceRequest(request));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(await story(request.id)).toEqual(['created →NEW', 'status_changed NEW→CONTACTED']);
  });

  test('refuses a different request with the same id, unknown references, and invalid fields', async () => {
    const request = asked();
    await intake.recordServiceRequest(request);
    await expect(intake.recordServiceRequest({ ...request, summary: 'Something else' })).rejects.toMatchObject({ status: 409, code: 'IDEMPOTENCY_KEY_REUSED' });
    await expect(recorded({ account_id: randomUUID() })).rejects.toMatchObject({ status: 400, details: [{ field: 'account_id' }] });
    await expect(recorded({ account_id: member['id'] })).rejects.toMatchObject({ status: 400, details: [{ field: 'account_id' }] });
    await expect(recorded({ location_id: randomUUID() })).rejects.toMatchObject({ status: 400, details: [{ field: 'location_id' }] });
    await expect(recorded({ requested_starts_at: 2, requested_ends_at: 1 })).rejects.toMatchObject({ details: [{ code: 'RANGE_ORDER' }] });
    await expect(recorded({ id: 'x', channel: ServiceRequestChannel.UNSPECIFIED })).rejects.toMatchObject({
      details: [
        { field: 'id', code: 'INVALID_UUID' },
        { field: 'channel', code: 'MISSING' },
      ],
    });
  });
});

describe('moving a service request', () => {
  test('publishes the previous status and the whole record as of the change', async () => {
    const { id } = await recorded();
    await move(id, Status.CONTACTED);
    await move(id, Status.CLOSED, 'Wanted a price only');
    const published = await events(id);
    expect(published.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    expect(published[2]!['data']).toMatchObject({
      status: 'CLOSED',
      previous_status: 'CONTACTED',
      closed_reason: 'Wanted a price only',
      summary: 'AC not cooling',
    });
  });

  test('changes nothing if it already has the status, and refuses moves that its status does not allow', async () => {
    const { id } = await recorded();
    const contacted = await move(id, Status.CONTACTED);
    expect(await move(id, Status.CONTACTED)).toEqual(contacted);
    await expect(move(id, Status.COMPLETED)).rejects.toMatchObject({ status: 409, message: expect.stringContaining('may go to BOOKED') });
    await expect(move(id, Status.CONTACTED, 'why')).rejects.toMatchObject({ status: 400 });
    await expect(move(randomUUID(), Status.CONTACTED)).rejects.toMatchObject({ status: 404 });
    expect(await story(id)).toHaveLength(2);
    const closed = await move(id, Status.CLOSED, 'Wanted a price only');
    for (const reason of [null, 'Wanted a price only']) expect(await move(id, Status.CLOSED, reason)).toEqual(closed);
    await expect(move(id, Status.CLOSED, 'Went elsewhere')).rejects.toMatchObject({ status: 409, message: expect.stringContaining('it is final') });
    expect(await story(id)).toHaveLength(3);
  });
});

describe('booking a service request', () => {
  test('publishes status_changed, then booked; the public writes move it on and back', async () => {
    const { id } = await recorded();
    const on = await visit();
    const booked = await book(id, on);
    expect(booked).toMatchObject({ status: Status.BOOKED, job_id: job['id'], appointment_id: on.id, booked_at: booked.updated_at });
    expect(await book(id, on)).toEqual(booked);
    const added = await add(on);
    await remove(added);
    expect(await story(id)).toEqual([
      'created →NEW',
      'status_changed NEW→BOOKED',
      'booked →BOOKED',
      'status_changed BOOKED→SCHEDULED',
      'status_changed SCHEDULED→BOOKED',
    ]);
    expect((await events(id)).map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5]);
    expect((await intake.getServiceRequest({ company_id: company.id, id })).service_request?.status).toBe(Status.BOOKED);
  });

  test('ends SCHEDULED on a visit with technicians, whether booking or adding comes first', async () => {
    const [busy, racing] = [await add(await visit()), await visit()];
    const { id } = await recorded();
    expect((await book(id, busy)).status).toBe(Status.SCHEDULED);
    expect(await story(id)).toEqual(['created →NEW', 'status_changed NEW→BOOKED', 'booked →BOOKED', 'status_changed BOOKED→SCHEDULED']);
    const other = await recorded();
    await Promise.all([book(other.id, racing), add(racing)]);
    expect((await intake.getServiceRequest({ company_id: company.id, id: other.id })).service_request?.status).toBe(Status.SCHEDULED);
  });

  test('follows imported technicians like those that are added and removed', async () => {
    const on = await visit();
    const { id } = await recorded();
    await book(id, on);
    const assignment = line.assignment({ job_id: job['id'], appointment_id: on.id, team_member: line.ref(member['id'], member['name']) });
    await company.store('job-assignments', assignment);
    await company.store('job-assignments', { ...assignment, status: 'EN_ROUTE' });
    await company.store('job-assignments', { ...assignment, status: 'CANCELED' });
    const thereAndBack = ['status_changed BOOKED→SCHEDULED', 'status_changed SCHEDULED→BOOKED'];
    expect((await story(id)).slice(3)).toEqual(thereAndBack);
    // The canceled assignment stays on the visit.
    await remove(await add(await company.detail('job-appointments', on.id)));
    expect((await story(id)).slice(5)).toEqual(thereAndBack);
  });

  test('of several for a visit follows the technicians even if the first one is closed', async () => {
    const on = await visit();
    const [closed, open] = [randomUUID(), randomUUID()].toSorted() as [string, string];
    for (const id of [closed, open]) {
      await recorded({ id });
      await book(id, on);
    }
    await move(closed, Status.CLOSED);
    await add(on);
    const statuses = [closed, open].map(async (id) => (await intake.getServiceRequest({ company_id: company.id, id })).service_request?.status);
    expect(await Promise.all(statuses)).toEqual([Status.CLOSED, Status.SCHEDULED]);
  });

  test('refuses a canceled visit, another job’s visit, and a second visit', async () => {
    const { id } = await recorded();
    await expect(book(id, await visit({ canceled: true }))).rejects.toMatchObject({ status: 409 });
    await expect(book(id, await visit({ job_id: randomUUID() }))).rejects.toMatchObject({ status: 404 });
    await book(id, await visit());
    await expect(book(id, await visit())).rejects.toMatchObject({ status: 409, message: expect.stringContaining('is BOOKED') });
  });
});

describe('interactions', () => {
  const talk = (fields: Partial<RecordInteractionRequest> = {}): RecordInteractionRequest => ({
    company_id: company.id,
    id: randomUUID(),
    channel: InteractionChannel.CALL,
    direction: InteractionDirection.INBOUND,
    started_at: 1_000_000,
    handled_by_id: member['id'],
    ...fields,
  });

  test('publishes an interaction in progress once, when it is completed', async () => {
    const request = talk();
    const first = await intake.recordInteraction(request);
    expect(first.interaction).toMatchObject({ status: InteractionStatus.IN_PROGRESS, handled_by: { name: 'Dana Whitfield' } });
    expect(await events(request.id)).toEqual([]);
    const completion = { company_id: company.id, id: request.id, outcome: 'Booked', ended_at: 61_500_000 };
    const done = await intake.completeInteraction(completion);
    expect(await intake.completeInteraction(completion)).toEqual(done);
    expect(await intake.recordInteraction(request)).toEqual(first);
    const published = await events(request.id);
    expect(published).toHaveLength(1);
    expect(published[0]).toMatchObject({
      type: 'interaction.completed',
      sequence: 1,
      data: { status: 'COMPLETED', outcome: 'Booked', duration_seconds: 60, ended_at: '1970-01-01T00:01:01.500000Z' },
    });
    await expect(intake.completeInteraction({ ...completion, outcome: 'Lost' })).rejects.toMatchObject({ status: 409 });
  });

  test('lasts 0 s if only its end is recorded, or if it is completed before it has begun', async () => {
    const { interaction } = await intake.recordInteraction(talk({ started_at: null, ended_at: 2_000_000 }));
    expect(interaction).toMatchObject({ started_at: 2_000_000, ended_at: 2_000_000, duration_seconds: 0 });
    const later = talk({ started_at: now() + 3_600_000_000 });
    await intake.recordInteraction(later);
    const completed = await intake.completeInteraction({ company_id: company.id, id: later.id });
    expect(completed.interaction).toMatchObject({ started_at: later.started_at, ended_at: later.started_at, duration_seconds: 0 });
  });

  test('publishes an interaction recorded as completed at once, and refuses an end before the beginning', async () => {
    const request = talk({ ended_at: 2_000_000 });
    await intake.recordInteraction(request);
    await intake.recordInteraction(request);
    expect(await events(request.id)).toHaveLength(1);
    await expect(intake.recordInteraction(talk({ ended_at: 1 }))).rejects.toMatchObject({ status: 400, details: [{ field: 'ended_at' }] });
    await expect(intake.recordInteraction(talk({ service_request_id: randomUUID() }))).rejects.toMatchObject({ details: [{ field: 'service_request_id' }] });
  });
});

test('leaves only records that an import would accept', async () => {
  const { count, broken } = await company.checked();
  expect(count).toBeGreaterThan(0);
  expect(broken).toEqual([]);
});
