import { checkDeliveries, type Arrival, type Endpoint, type Published } from './check.ts';

const TYPES = ['created', 'changed'];
const ENDPOINT: Endpoint = { name: 'sales', companyId: 'c', eventTypes: TYPES };
const event = (sequence: number, fields: Partial<Published> = {}): Published => ({
  id: `e${sequence}`,
  type: TYPES[1]!,
  companyId: 'c',
  subject: 's',
  sequence,
  ...fields,
});
const PUBLISHED = [event(1, { type: TYPES[0]! }), event(2), event(3)];
const arrival = (sequence: number, fields: Partial<Arrival> = {}): Arrival => ({
  endpoint: 'sales',
  eventId: `e${sequence}`,
  subject: 's',
  sequence,
  status: 204,
  ...fields,
});

function found(...arrivals: Arrival[]) {
  const { violations, counts } = checkDeliveries(PUBLISHED, [ENDPOINT], arrivals);
  return { kinds: violations.map(({ kind }) => kind), duplicates: counts.duplicates };
}

test('accepts events that arrive once and in order', () => {
  const { violations, counts } = checkDeliveries(PUBLISHED, [ENDPOINT], [arrival(1), arrival(2), arrival(3)]);
  expect(violations).toEqual([]);
  expect(counts).toEqual({ events: 3, deliveries: 3, requests: 3, refused: 0, duplicates: 0 });
});

test('does not count a redelivery after a refusal as a duplicate, and later events need not wait for it', () => {
  expect(found(arrival(1, { status: 500 }), arrival(2), arrival(3), arrival(1))).toEqual({ kinds: [], duplicates: 0 });
});

test('counts a redelivery after acceptance as a duplicate that does not violate the order', () => {
  expect(found(arrival(1), arrival(2), arrival(3), arrival(1))).toEqual({ kinds: [], duplicates: 1 });
});

test('reports events that never arrived or were never accepted as lost', () => {
  expect(found(arrival(1), arrival(3)).kinds).toEqual(['lost']);
  expect(found(arrival(1), arrival(2, { status: 500 }), arrival(3)).kinds).toEqual(['lost']);
});

test('reports a first arrival after that of a later event as out of order', () => {
  expect(found(arrival(2), arrival(1), arrival(3)).kinds).toEqual(['out-of-order']);
});

test('reports events the endpoint did not subscribe to, events that never happened, and invalid signatures', () => {
  expect(found(arrival(1), arrival(2), arrival(3), arrival(4)).kinds).toEqual(['unasked']);
  expect(found(arrival(1), arrival(2), arrival(3, { problem: 'No matching signature found' })).kinds).toEqual(['not-verified']);
  const other = checkDeliveries(PUBLISHED, [{ ...ENDPOINT, eventTypes: [TYPES[0]!] }], [arrival(1), arrival(2)]);
  expect(other.violations.map(({ kind }) => kind)).toEqual(['unasked']);
});
