// What is said of a path that the data of an endpoint's event types lacks.
import { checkFilter } from '../src/webhooks/filter/check.ts';
import { pathsOfType } from '../src/webhooks/filter/paths.ts';

const REQUEST = pathsOfType('service_request.created');
const INTERACTION = pathsOfType('interaction.completed');
const ID = '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';

const problems = (filter: unknown, ...types: (typeof REQUEST)[]) => checkFilter(filter, types.length === 0 ? [REQUEST] : types);

test('an unknown path is refused, with the nearest known one', () => {
  expect(problems({ business_unit_id: { $eq: ID } })).toEqual([
    {
      field: 'filter.business_unit_id',
      code: 'UNKNOWN_FIELD',
      message: "The data of the endpoint's event types has no such path. Did you mean business_unit.id?",
    },
  ]);
  expect(problems({ 'data.status': { $eq: 'NEW' } })[0]?.message).toMatch(/Did you mean status\?/);
  // Only a leading "data." is left out.
  expect(problems({ 'jodata.b_id': { $eq: ID } })[0]?.message).toMatch(/Did you mean location_id\?/);
  expect(problems({ constructor: { $exists: true } })).toHaveLength(1);
  expect(problems({ ['x'.repeat(100)]: {} })[0]?.message).toMatch(/ Did you mean /);
  expect(problems({ ['x'.repeat(101)]: {} }, INTERACTION)[0]?.message).toMatch(/no such path\. Give one of id, channel, .*, account\.name, /);
  expect(problems({ previous_status: { $eq: 'NEW' } }, REQUEST, pathsOfType('service_request.status_changed'))).toEqual([]);
});

test('a path of other event types is refused with the types that have it', () => {
  const none = "The data of the endpoint's event types has no such path.";
  expect(problems({ previous_status: { $eq: 'NEW' } })).toEqual([
    {
      field: 'filter.previous_status',
      code: 'UNKNOWN_FIELD',
      message: `${none} That of service_request.status_changed has it: subscribe to one of these too, or remove the path.`,
    },
  ]);
  expect(problems({ requested_starts_at: { $exists: true } }, INTERACTION)[0]?.message).toMatch(
    / That of service_request\.created, service_request\.status_changed, service_request\.booked has it/,
  );
});

test('at most three unknown paths of a filter get a suggestion', () => {
  const unknown = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`${'business_unit.i'.repeat(6)}${i}`, { $exists: true }]));
  const found = problems(unknown);
  expect(found).toHaveLength(20);
  expect(found.filter(({ message }) => message.includes('Did you mean'))).toHaveLength(3);
});

test.each(['statuses', 'x'.repeat(101)])('an endpoint with types of a newer release only gets no suggestion for a path such as %s', (path) => {
  const paths = pathsOfType('a.type.of.a.newer.release');
  expect(paths.size).toBe(0);
  expect(problems({ [path]: {} }, paths)[0]?.message).toBe("The data of the endpoint's event types has no such path.");
});
