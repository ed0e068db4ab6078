import { codec, publicEvents } from '@truckroll/contract';
import { InteractionCompleted, ServiceRequestCreated } from '@truckroll/contract/gen/events/v1/public_events';
import type { IncomingEvent } from '@truckroll/outbox';
import fc from 'fast-check';
import { batches, loadOf } from '../src/events/batches.ts';
import { publicEvent } from '../src/events/public-event.ts';

const MEGABYTE = 1024 * 1024;
const sizeOf = (size: number): number => size;

test.each([
  ['one event', [0], 1 / 500],
  ['500 small events', Array<number>(500).fill(1), 1],
  ['one event of 2 MB', [2 * MEGABYTE], 1],
  ['an event of 1 MB and a small one', [MEGABYTE, 10], 0.502],
  ['no event', [], 0],
])('measures the load of %s in shares of a request', (_, sizes, load) => {
  expect(loadOf(sizes, sizeOf)).toBeCloseTo(load, 9);
});

test.each([
  [[], []],
  [[1, 2, 3], [[1, 2, 3]]],
  [[MEGABYTE, MEGABYTE], [[MEGABYTE, MEGABYTE]]],
  [
    [MEGABYTE, MEGABYTE, 1],
    [[MEGABYTE, MEGABYTE], [1]],
  ],
  // A request takes what is too large for it only alone.
  [
    [1, 3 * MEGABYTE, 2],
    [[1], [3 * MEGABYTE], [2]],
  ],
  [[3 * MEGABYTE], [[3 * MEGABYTE]]],
])('sends events of %j bytes in requests of %j', (sizes, requests) => {
  expect([...batches(sizes, sizeOf)]).toEqual(requests);
});

test('sends all events once and in order, at most 500 and 2 MB at a time unless one is larger', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 3 * MEGABYTE })), { maxLength: 1200 }), (sizes) => {
      const requests = [...batches(sizes, sizeOf)];
      expect(requests.flat()).toEqual(sizes);
      for (const request of requests) {
        expect(request.length).toBeGreaterThan(0);
        expect(request.length).toBeLessThanOrEqual(500);
        if (request.length > 1) expect(request.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(2 * MEGABYTE);
      }
    }),
  );
});

const COMPANY = '5f1d2c3b-4a59-4687-9b0c-1d2e3f4a5b6c';
const SUBJECT = '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';
type Created = ReturnType<typeof ServiceRequestCreated.decode>;
type Request = NonNullable<Created['data']>;

function created(fields: Partial<Request> = {}): Buffer {
  const event = ServiceRequestCreated.decode(new Uint8Array());
  const data = codec('truckroll.scheduling.v1.ServiceRequest').decode(new Uint8Array()) as Request;
  const envelope = { id: SUBJECT, type: 'service_request.created', timestamp: 1_772_380_800_000_000, company_id: COMPANY, sequence: 3 };
  return Buffer.from(ServiceRequestCreated.encode({ ...event, ...envelope, data: { ...data, ...fields } }).finish());
}

const incoming = (fields: Partial<IncomingEvent> = {}): IncomingEvent => ({
  id: 'published',
  type: 'service_request.created',
  source: '/truckroll/scheduling',
  companyId: COMPANY,
  key: `${COMPANY}/${SUBJECT}`,
  time: 0,
  sequence: 3,
  version: 1,
  payload: created(),
  topic: 't',
  partition: 0,
  offset: '0',
  trace: '00-trace',
  requestId: 'request',
  ...fields,
});

test('stores an event under its subject with the body that is sent, its request and its trace', () => {
  const { body, ...event } = publicEvent(incoming({ payload: created({ number: 'SR-1' }) }));
  expect(event).toEqual({
    id: SUBJECT,
    type: 'service_request.created',
    company_id: COMPANY,
    subject: SUBJECT,
    sequence: 3,
    timestamp: 1_772_380_800_000_000,
    request_id: 'request',
    traceparent: '00-trace',
    subject_number: 'SR-1',
    customer_name: null,
  });
  expect(JSON.parse(Buffer.from(body).toString())).toMatchObject({
    id: SUBJECT,
    type: 'service_request.created',
    timestamp: '2026-03-01T16:00:00Z',
    sequence: 3,
    data: { number: 'SR-1' },
  });
});

test('does not overwrite the body of the event before', () => {
  const [first, second] = ['SR-1', 'SR-2'].map((number) => publicEvent(incoming({ payload: created({ number }) })));
  expect([first, second].map((event) => JSON.parse(Buffer.from(event!.body).toString()).data.number)).toEqual(['SR-1', 'SR-2']);
});

test.each([
  [{ number: 'SR-1', account: { id: SUBJECT, name: 'Whitfield' }, contact_name: 'Ana' }, 'SR-1', 'Whitfield'],
  [{ number: 'SR-1', account: null, contact_name: 'Ana' }, 'SR-1', 'Ana'],
  [{ number: '', account: null, contact_name: null }, null, null],
])('lets people find the event about %j by the number %p and the name %p', (fields, subject_number, customer_name) => {
  expect(publicEvent(incoming({ payload: created(fields as Partial<Request>) }))).toMatchObject({ subject_number, customer_name });
});

test('stores events of each type that the contract has', () => {
  for (const { type, body } of publicEvents) {
    const empty = codec(body.typeName).decode(new Uint8Array()) as object;
    const data = body.byName.get('data')!;
    const about = codec(data.shape!.typeName).decode(new Uint8Array()) as object;
    const payload = Buffer.from(
      codec(body.typeName)
        .encode({ ...empty, type, company_id: COMPANY, data: about })
        .finish(),
    );
    expect(publicEvent(incoming({ type, payload }))).toMatchObject({ type, subject_number: null });
  }
});

test.each([
  ['the event has no payload', { payload: null }],
  ['this release does not know the type', { type: 'service_request.unknown' }],
  ['this release does not know #15', { payload: Buffer.concat([created(), Buffer.of(15 * 8, 1)]) }],
  ['the event is not what its headers say', { type: 'interaction.completed', payload: interaction('service_request.created') }],
  ['the event is not what its headers say', { companyId: SUBJECT }],
])('refuses an event because %s', (message, fields) => {
  expect(() => publicEvent(incoming(fields))).toThrow(message);
});

function interaction(type: string): Buffer {
  return Buffer.from(InteractionCompleted.encode({ ...InteractionCompleted.decode(new Uint8Array()), type, company_id: COMPANY }).finish());
}
