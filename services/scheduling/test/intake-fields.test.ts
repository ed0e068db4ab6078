// What service requests and interactions keep of what they were recorded with, and which names they show when.
import { randomUUID } from 'node:crypto';
import { now } from '@truckroll/contract';
import { InteractionCompleted, ServiceRequestBooked, ServiceRequestStatusChanged } from '@truckroll/contract/gen/events/v1/public_events';
import { IntakeServiceService, type RecordServiceRequestRequest } from '@truckroll/contract/gen/scheduling/v1/intake';
import { InteractionChannel, InteractionDirection, InteractionStatus } from '@truckroll/contract/gen/scheduling/v1/interactions';
import { ServiceRequestChannel, ServiceRequestStatus as Status } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import type { CallContext, Callers } from '@truckroll/grpc';
import { intakeHandlers } from '../src/intake/intake.ts';
import { crewOf, type Crew } from './crew.ts';
import { startHarness, type Harness } from './harness.ts';
import * as line from './records.ts';

const KINDS = {
  handled_by: 'team-members',
  lead_source: 'lead-sources',
  job_type: 'job-types',
  business_unit: 'business-units',
  contact: 'contacts',
  account: 'accounts',
} as const;
type Field = keyof typeof KINDS;

let harness: Harness;
let crew: Crew;
let company_id: string;
let intake: Callers<typeof IntakeServiceService>;
const known = Object.fromEntries(Object.keys(KINDS).map((field) => [field, randomUUID()])) as Record<Field, string>;
const [location, job] = [line.location(), line.job()];

beforeAll(async () => {
  harness = await startHarness();
  crew = await crewOf(harness);
  company_id = crew.company.id;
  intake = harness.channel.client(IntakeServiceService);
  await crew.company.store('locations', location);
  await crew.company.store('jobs', job);
}, 60_000);
afterAll(() => harness.stop());
beforeEach(async () => {
  for (const field of Object.keys(KINDS) as Field[]) await name(field, `the ${field}`);
});

const name = (field: Field, text: string) =>
  harness.database.query({
    text: `insert into names (company_id, kind, id, name, version) values ($1, $2, $3, $4, 0) on conflict (company_id, kind, id) do update set name = $4`,
    values: [company_id, KINDS[field], known[field], text],
  });
const forget = (field: Field) => harness.database.query({ text: 'delete from names where company_id = $1 and id = $2', values: [company_id, known[field]] });

const whole = (): RecordServiceRequestRequest => ({
  company_id,
  id: randomUUID(),
  channel: ServiceRequestChannel.PHONE,
  summary: 'AC not cooling',
  account_id: known.account,
  contact_name: 'Dana Whitfield',
  contact_phone: '512-555-0142',
  contact_email: 'dana@example.com',
  location_id: location['id'],
  business_unit_id: known.business_unit,
  job_type_id: known.job_type,
  lead_source_id: known.lead_source,
  requested_starts_at: 1_772_377_200_000_000,
  requested_ends_at: 1_772_380_800_000_001,
});
const reference = (field: Field) => ({ id: known[field], name: `the ${field}` });
const talk = () => ({ company_id, id: randomUUID(), channel: InteractionChannel.CALL, direction: InteractionDirection.INBOUND });

async function payloads(id: string): Promise<{ type: string; payload: Buffer }[]> {
  const text = 'select type, payload from outbox where key = $1 order by id';
  return (await harness.database.query<{ type: string; payload: Buffer }>({ text, values: [`${company_id}/${id}`] })).rows;
}

describe('a service request', () => {
  test('keeps every field that it was recorded with, and shows references by name', async () => {
    const request = whole();
    const { company_id: _, account_id, business_unit_id, job_type_id, lead_source_id, ...kept } = request;
    const shown = {
      account: reference('account'),
      business_unit: reference('business_unit'),
      job_type: reference('job_type'),
      lead_source: reference('lead_source'),
    };
    const { service_request } = await intake.recordServiceRequest(request);
    expect(service_request).toMatchObject({ ...kept, ...shown, status: Status.NEW });
    expect((await intake.getServiceRequest({ company_id, id: request.id })).service_request).toEqual(service_request);
  });

  test.each(['account', 'business_unit', 'job_type', 'lead_source'] as const)('takes its %s from the records of that kind only', async (field) => {
    for (const other of (Object.keys(KINDS) as Field[]).filter((each) => each !== field)) {
      await expect(intake.recordServiceRequest({ ...whole(), [`${field}_id`]: known[other] })).rejects.toMatchObject({
        status: 400,
        details: [{ location: 'body', field: `${field}_id`, message: `None of the company’s ${KINDS[field]} has this id.` }],
      });
    }
  });

  test('takes its location from the locations only', async () => {
    await expect(intake.recordServiceRequest({ ...whole(), location_id: job['id'] })).rejects.toMatchObject({
      details: [{ field: 'location_id', message: 'The company has no record with this id among its locations.' }],
    });
  });

  test.each(['account', 'business_unit', 'job_type', 'lead_source'] as const)(
    'is answered again as first recorded, even if its %s is gone by then',
    async (field) => {
      const request = {
        ...whole(),
        account_id: null,
        business_unit_id: null,
        job_type_id: null,
        lead_source_id: null,
        location_id: null,
        [`${field}_id`]: known[field],
      };
      const first = await intake.recordServiceRequest(request);
      await forget(field);
      expect(await intake.recordServiceRequest(request)).toEqual(first);
    },
  );

  test('shows the latest names whenever it changes, and the last known name of a record that is gone', async () => {
    const visit = await crew.visit(job['id']);
    const { id } = (await intake.recordServiceRequest(whole())).service_request!;
    const shown = async () => {
      const { service_request } = await intake.getServiceRequest({ company_id, id });
      const { type, payload } = (await payloads(id)).at(-1)!;
      const event = (type.endsWith('booked') ? ServiceRequestBooked : ServiceRequestStatusChanged).decode(payload);
      expect(event.timestamp).toBe(service_request!.updated_at);
      expect(event.data).toMatchObject({ account: service_request!.account, status: service_request!.status });
      return service_request!.account?.name;
    };
    await name('account', 'when contacted');
    await intake.changeServiceRequestStatus({ company_id, id, status: Status.CONTACTED, closed_reason: null });
    expect(await shown()).toBe('when contacted');
    await name('account', 'when booked');
    await intake.bookServiceRequest({ company_id, id, job_id: job['id'], appointment_id: visit.id });
    expect(await shown()).toBe('when booked');
    await name('account', 'when scheduled');
    await crew.add(visit);
    expect(await shown()).toBe('when scheduled');
    await forget('account');
    await intake.changeServiceRequestStatus({ company_id, id, status: Status.COMPLETED, closed_reason: null });
    expect(await shown()).toBe('when scheduled');
  });

  test.each([Status.CLOSED, Status.CANCELED])('takes a reason with %s', async (status) => {
    const { id } = (await intake.recordServiceRequest(whole())).service_request!;
    const { service_request } = await intake.changeServiceRequestStatus({ company_id, id, status, closed_reason: 'a duplicate' });
    expect(service_request).toMatchObject({ status, closed_reason: 'a duplicate' });
  });
});

describe('an interaction', () => {
  test('begins now unless a time is given, and keeps every field that it was recorded with', async () => {
    const { service_request } = await intake.recordServiceRequest(whole());
    const kept = { ...talk(), outcome: 'Called back', summary: 'About the AC', service_request_id: service_request!.id, job_id: job['id'] };
    const before = now();
    const request = { ...kept, account_id: known.account, contact_id: known.contact, handled_by_id: known.handled_by };
    const { interaction } = await intake.recordInteraction(request);
    const { company_id: _, ...shown } = kept;
    const references = { account: reference('account'), contact: reference('contact'), handled_by: reference('handled_by') };
    expect(interaction).toMatchObject({ ...shown, ...references, status: InteractionStatus.IN_PROGRESS });
    expect(interaction!.started_at).toBeGreaterThanOrEqual(before);
    expect(interaction!.started_at).toBeLessThanOrEqual(now());
  });

  test.each(['account', 'contact', 'handled_by'] as const)('takes its %s from the records of that kind only', async (field) => {
    for (const other of (Object.keys(KINDS) as Field[]).filter((each) => each !== field)) {
      await expect(intake.recordInteraction({ ...talk(), [`${field}_id`]: known[other] })).rejects.toMatchObject({ details: [{ field: `${field}_id` }] });
    }
    await expect(intake.recordInteraction({ ...talk(), job_id: location['id'] })).rejects.toMatchObject({ details: [{ field: 'job_id' }] });
  });

  test('keeps outcome and summary when it is completed without them, and shows the latest names', async () => {
    const request = { ...talk(), outcome: 'Called back', summary: 'About the AC', account_id: known.account };
    await intake.recordInteraction(request);
    await name('account', 'when completed');
    const { interaction } = await intake.completeInteraction({ company_id, id: request.id });
    expect(interaction).toMatchObject({ outcome: 'Called back', summary: 'About the AC', account: { name: 'when completed' } });
    const events = await payloads(request.id);
    expect(events.map(({ payload }) => InteractionCompleted.decode(payload).data)).toEqual([interaction]);
  });

  test('refuses to be completed again with any other value, even if others are the same', async () => {
    const request = talk();
    await intake.recordInteraction(request);
    const completion = { company_id, id: request.id, outcome: 'Called back', summary: 'About the AC' };
    await intake.completeInteraction(completion);
    for (const other of [{ outcome: 'No answer' }, { summary: 'About the heating' }, { ended_at: 1 }]) {
      await expect(intake.completeInteraction({ ...completion, ...other })).rejects.toMatchObject({ status: 409 });
    }
  });

  test('counts its one event, whether it was recorded as completed or completed later', async () => {
    const [ended, completed, open] = [{ ...talk(), started_at: 1, ended_at: 2 }, talk(), talk()];
    for (const request of [ended, completed, open]) await intake.recordInteraction(request);
    await intake.completeInteraction({ company_id, id: completed.id });
    const sequence = async ({ id }: { id: string }) =>
      (await harness.database.query<{ event_sequence: number }>({ text: 'select event_sequence from interactions where id = $1', values: [id] })).rows[0]!
        .event_sequence;
    expect(await Promise.all([ended, completed, open].map(sequence))).toEqual([1, 1, 0]);
  });

  test('that a sent notification recorded keeps its id', async () => {
    const request = talk();
    await intake.recordInteraction(request);
    await harness.database.query({ text: 'update interactions set fingerprint = null where id = $1', values: [request.id] });
    await expect(intake.recordInteraction(request)).rejects.toMatchObject({ status: 409, code: 'IDEMPOTENCY_KEY_REUSED' });
  });
});

test('wakes the relay once for each change', async () => {
  let pokes = 0;
  const handlers = intakeHandlers({ database: harness.database, poke: () => void (pokes += 1) });
  const context = {} as CallContext;
  const visit = await crew.visit(job['id']);
  const [request, interaction] = [whole(), { ...talk(), account_id: null, contact_id: null, handled_by_id: null }];
  const after: number[] = [];
  for (const call of [
    () => handlers.recordServiceRequest(request, context),
    () => handlers.changeServiceRequestStatus({ company_id, id: request.id, status: Status.CONTACTED }, context),
    () => handlers.bookServiceRequest({ company_id, id: request.id, job_id: job['id'], appointment_id: visit.id }, context),
    () => handlers.recordInteraction(interaction, context),
    () => handlers.completeInteraction({ company_id, id: interaction.id }, context),
  ]) {
    await call();
    after.push(pokes);
  }
  expect(after).toEqual([1, 2, 3, 4, 5]);
});
