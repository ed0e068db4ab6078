// Filters that no event of the subscribed types can fulfil (decisions §17).
import { exampleRecord, publicEvents, shapeNamed } from '@truckroll/contract';
import { checkFilter } from '../src/webhooks/filter/check.ts';
import type { EventFilter } from '../src/webhooks/filter/compile.ts';
import { subscribed } from '../src/webhooks/filter/matchers.ts';
import { pathsOfType } from '../src/webhooks/filter/paths.ts';
import { impossibleConditions } from '../src/webhooks/filter/possible.ts';
import { subscriptionProblems } from '../src/webhooks/filter/store.ts';

const CREATED = 'service_request.created';
const CHANGED = 'service_request.status_changed';
const BOOKED = 'service_request.booked';
const COMPLETED = 'interaction.completed';
const ALL = [CREATED, CHANGED, BOOKED, COMPLETED];
const ID = '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';

test.each<[string[], EventFilter, string | undefined]>([
  [[CREATED], { status: { $in: ['BOOKED'] } }, 'in service_request.created it is NEW.'],
  [[CREATED], { status: { $in: ['BOOKED', 'NEW'] } }, undefined],
  [[CREATED], { status: { $ne: 'NEW' } }, 'it is NEW'],
  [[CREATED, CHANGED], { status: { $in: ['BOOKED'] } }, undefined],
  [[CHANGED], { status: { $eq: 'NEW' } }, 'it is CONTACTED or BOOKED or'],
  [[CHANGED], { previous_status: { $eq: 'NEW' } }, undefined],
  [[BOOKED], { status: { $nin: ['BOOKED', 'SCHEDULED'] } }, 'it is BOOKED or SCHEDULED'],
  [[COMPLETED], { status: { $eq: 'IN_PROGRESS' } }, 'it is COMPLETED'],
  [[CREATED, COMPLETED], { status: { $eq: 'BOOKED' } }, 'in service_request.created it is NEW; in interaction.completed it is COMPLETED.'],
  [[CREATED, COMPLETED], { outcome: { $exists: true }, status: { $eq: 'COMPLETED' } }, undefined],
  [[CREATED, COMPLETED], { outcome: { $exists: true }, status: { $eq: 'NEW' } }, 'service_request.created has no such path'],
  [[CREATED], { outcome: { $exists: false } }, undefined],
  [[CREATED], { id: { $exists: false } }, 'no value for which all operators hold'],
  [[CREATED], { id: { $eq: ID, $ne: ID } }, 'no value'],
  [[CREATED], { id: { $eq: ID, $in: [ID.toUpperCase()] } }, undefined],
  [[CREATED], { id: { $nin: [ID] } }, undefined],
  [[CREATED], { id: { $eq: '6D5C0F57-AAAA-4C35-9C02-8F5A3D1E7B64' } }, undefined],
  [[CREATED], { summary: { $exists: false } }, undefined],
  [[CREATED], { summary: { $exists: false, $startsWith: 'A' } }, 'no value'],
  [[CREATED], { summary: { $startsWith: 'A', $ne: 'A' } }, undefined],
  [[CREATED], { summary: { $startsWith: 'A', $eq: 'B' } }, 'no value'],
  [[CREATED], { account: { $exists: false } }, undefined],
  [[CREATED], { 'account.id': { $exists: false } }, undefined],
  [[CREATED], { 'account.id': { $exists: true } }, undefined],
  [[CREATED], { created_at: { $gt: '2026-03-01T00:00:00Z', $lt: '2026-03-01T00:00:00.000002Z' } }, undefined],
  [[CREATED], { created_at: { $gt: '2026-03-01T00:00:00Z', $lt: '2026-03-01T00:00:00.000001Z' } }, 'no value'],
  [[CREATED], { created_at: { $gte: '2026-03-01T06:00:00Z', $lte: '2026-03-01T00:00:00-06:00' } }, undefined],
  [[CREATED], { created_at: { $gte: '2026-03-02T00:00:00Z', $lt: '2026-03-01T00:00:00Z' } }, 'no value'],
  [[CREATED], { created_at: { $lt: '9999-12-31T00:00:00Z' } }, undefined],
  [[CREATED], { created_at: { $gt: '9999-12-31T00:00:00Z' } }, 'no value'],
  [[COMPLETED], { duration_seconds: { $gt: 5, $lt: 7 } }, undefined],
  [[COMPLETED], { duration_seconds: { $gt: 5, $lt: 6 } }, 'no value'],
  [[COMPLETED], { duration_seconds: { $gt: 5.5, $lt: 6.5 } }, undefined],
  [[COMPLETED], { duration_seconds: { $in: [1.5, 2.5] } }, 'no value'],
  [[COMPLETED], { duration_seconds: { $gt: 5, $lt: 4, $exists: true } }, 'no value'],
  [[CREATED], { closed_reason: { $exists: true } }, 'in service_request.created it is always null.'],
  [[CREATED], { booked_at: { $gt: '2026-03-01T00:00:00Z' } }, 'it is always null'],
  [[CREATED], { booked_at: { $exists: false }, job_id: { $ne: ID } }, undefined],
  [[BOOKED], { booked_at: { $exists: true }, job_id: { $eq: ID } }, undefined],
  [['a.type.of.a.newer.release'], { status: { $eq: 'BOOKED' } }, undefined],
])('events of %j and %j: %s', (types, filter, reason) => {
  const problems = impossibleConditions(filter, types);
  if (reason === undefined) return expect(problems).toEqual([]);
  expect(problems.length).toBeGreaterThan(0);
  for (const problem of problems) expect(problem).toMatchObject({ code: 'OUT_OF_RANGE' });
  expect(problems.map(({ message }) => message).join()).toContain(reason);
});

test('names all conditions that nothing can fulfil, next to those that are wrong in themselves', () => {
  const fieldsOf = (filter: object, types: string[]) => subscriptionProblems(JSON.stringify(filter), types).map(({ field, code }) => `${field} ${code}`);
  const never = { status: { $eq: 'BOOKED' }, booked_at: { $exists: true }, number: { $exists: true } };
  expect(fieldsOf(never, [CREATED])).toEqual(['filter.status OUT_OF_RANGE', 'filter.booked_at OUT_OF_RANGE']);
  expect(fieldsOf({ colour: { $eq: 'red' }, ...never }, [CREATED])).toEqual([
    'filter.colour UNKNOWN_FIELD',
    'filter.status OUT_OF_RANGE',
    'filter.booked_at OUT_OF_RANGE',
  ]);
  // Events of one type can fulfil the outcome, and those of none the time of the booking.
  expect(fieldsOf({ outcome: { $exists: true }, booked_at: { $exists: true } }, [CREATED, COMPLETED])).toEqual(['filter.booked_at OUT_OF_RANGE']);
  // Nothing more is said of a filter that cannot be read.
  expect(fieldsOf([], [CREATED])).toEqual(['filter INVALID_FORMAT']);
  // Events of the other type fulfil the conditions that are right.
  expect(fieldsOf({ colour: { $eq: 'red' }, ...never }, [CREATED, BOOKED])).toEqual(['filter.colour UNKNOWN_FIELD']);
});

test('a filter that the example of one of the types fulfils is possible', () => {
  for (const type of ALL) {
    const data = exampleOf(type)['data'] as Record<string, unknown>;
    for (const [name, { field, class: group }] of pathsOfType(type)) {
      const value = name.includes('.') ? undefined : data[name];
      const operators =
        group === 'object' || value === undefined || Array.isArray(value) ? { $exists: true } : value === null ? { $exists: false } : { $eq: value };
      expect([name, field.kind, impossibleConditions({ [name]: operators }, [type])]).toEqual([name, field.kind, []]);
    }
  }
});

const exampleOf = (type: string): Record<string, unknown> => exampleRecord(publicEvents.find((each) => each.type === type)!.body, 'snake');

test.each(['CreateWebhookRequest', 'Webhook', 'WebhookWithSecret', 'PreviewWebhookFilterRequest'])(
  'the sample of %s has a filter that its type’s sample fulfils',
  (name) => {
    const { eventTypes, filter } = exampleRecord(shapeNamed(`truckroll.integrations.v1.${name}`), 'camel') as { eventTypes: string[]; filter: object };
    const text = JSON.stringify(filter);
    expect(checkFilter(filter, eventTypes.map(pathsOfType))).toEqual([]);
    expect(subscriptionProblems(text, eventTypes)).toEqual([]);
    const got = eventTypes.filter((type) => {
      const event = { type, body: Buffer.from(JSON.stringify(exampleOf(type))) };
      return subscribed([{ id: name, event_types: eventTypes, filter: text }], event).length > 0;
    });
    expect(got).toEqual(eventTypes);
  },
);
