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

test('what arrives once and in order is right', () => {
  const { violations, counts } = checkDeliveries(PUBLISHED, [ENDPOINT], [arrival(1), arrival(2), arrival(3)]);
  expect(violations).toEqual([]);
  expect(counts).toEqual({ events: 3, deliveries: 3, requests: 3, refused: 0, duplicates: 0 });
});

test('what comes again after a refusal is no duplicate, and later events need not wait for it', () => {
  expect(found(arrival(1, { status: 500 }), arrival(2), arrival(3), arrival(1))).toEqual({ kinds: [], duplicates: 0 });
});

test('what comes again after it was taken is a duplicate, and harms no order', () => {
  expect(found(arrival(1), arrival(2), arrival(3), arrival(1))).toEqual({ kinds: [], duplicates: 1 });
});

test('what never came, or was never taken, is lost', () => {
  expect(found(arrival(1), arrival(3)).kinds).toEqual(['lost']);
  expect(found(arrival(1), arrival(2, { status: 500 }), arrival(3)).kinds).toEqual(['lost']);
});

test('a first arrival after that of a later event is out of order', () => {
  expect(found(arrival(2), arrival(1), arrival(3)).kinds).toEqual(['out-of-order']);
});

test('what was not asked for, or never happened, and what is not signed right is found', () => {
  expect(found(arrival(1), arrival(2), arrival(3), arrival(4)).kinds).toEqual(['unasked']);
  expect(found(arrival(1), arrival(2), arrival(3, { problem: 'No matching signature found' })).kinds).toEqual(['not-verified']);
  const other = checkDeliveries(PUBLISHED, [{ ...ENDPOINT, eventTypes: [TYPES[0]!] }], [arrival(1), arrival(2)]);
  expect(other.violations.map(({ kind }) => kind)).toEqual(['unasked']);
});
