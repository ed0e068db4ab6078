// How answers announce what will be removed (decisions §9). Nothing in the contract is deprecated, so these tests use their own.
import { checkDeprecation, operations, type Field, type Operation, type Shape } from '@truckroll/contract';
import { compileDeprecation } from '../src/http/deprecation.ts';
import { buildDocument } from '../src/openapi/document.ts';

const soon = { since: '2027-01-01', sunset: '2028-01-01' };
const late = { since: '2027-01-01', sunset: '2030-06-30' };
const headers = (sunset: string, changelog = '../docs/changelog') => [
  'Deprecation',
  '@1798761600',
  'Sunset',
  sunset,
  'Link',
  `<${changelog}>; rel="deprecation"; type="text/html"`,
];
const SOON = headers('Sat, 01 Jan 2028 00:00:00 GMT');
const LATE = headers('Sun, 30 Jun 2030 00:00:00 GMT');
/** From `/api/v1/integrations/keys`. */
const LATE_OF_KEYS = headers('Sun, 30 Jun 2030 00:00:00 GMT', '../../../docs/changelog');

const named = (name: string): Operation => operations.find((operation) => operation.name === name) as Operation;
const invoices = named('ListInvoices');
const deprecated = (field: Field, deprecation = soon): Field => ({ ...field, deprecation });
/** A shape with one field deprecated. */
function going(shape: Shape, name: string, deprecation = soon): Shape {
  const fields = shape.fields.map((field) => (field.name === name ? deprecated(field, deprecation) : field));
  return { ...shape, fields, byName: new Map(fields.map((field) => [field.name, field])) };
}
const none = () => [];

test('announces nothing that is not deprecated', () => {
  for (const operation of operations) expect(compileDeprecation(operation, '')(() => operation.parameters.map(({ field }) => field))).toEqual([]);
});

test('announces a deprecated operation in every answer, in the forms of RFC 9745 and RFC 8594', () => {
  expect(compileDeprecation({ ...invoices, deprecation: soon }, '')(none)).toEqual(SOON);
  expect(compileDeprecation({ ...invoices, deprecation: soon }, 'https://api.example.com')(none).at(-1)).toMatch(
    /^<https:\/\/api\.example\.com\/docs\/changelog>;/,
  );
});

test('announces a field at any depth of an answer; of several, the one removed first', () => {
  const data = invoices.response.byName.get('data') as Field;
  const record = going(data.shape as Shape, 'tax', late);
  const response = { ...invoices.response, fields: invoices.response.fields.map((field) => (field === data ? { ...data, shape: record } : field)) };
  expect(compileDeprecation({ ...invoices, response }, '')(none)).toEqual(LATE);
  expect(compileDeprecation({ ...invoices, response, deprecation: soon }, '')(none)).toEqual(SOON);
});

test('announces a parameter only to clients that use it', () => {
  const parameters = invoices.parameters.map((each) => (each.name === 'status' ? { ...each, field: deprecated(each.field) } : each));
  const announce = compileDeprecation({ ...invoices, parameters }, '');
  expect(announce(none)).toEqual([]);
  expect(announce(() => parameters.filter(({ name }) => name === 'status').map(({ field }) => field))).toEqual(SOON);
});

test('announces a field of a body only to clients that use it', () => {
  const create = named('CreateApiKey');
  const bodyFields = create.bodyFields.map((field) => (field.name === 'expires_at' ? deprecated(field, late) : field));
  const announce = compileDeprecation({ ...create, bodyFields }, '');
  expect(announce(none)).toEqual([]);
  expect(announce(() => bodyFields.filter(({ name }) => name === 'name'))).toEqual([]);
  expect(announce(() => bodyFields)).toEqual(LATE_OF_KEYS);
});

test('announces what a request used together with what every answer has, whichever is removed first', () => {
  const parameters = (deprecation: typeof soon) => invoices.parameters.map((each) => ({ ...each, field: deprecated(each.field, deprecation) }));
  const announced = (operation: typeof soon, parameter: typeof soon) =>
    compileDeprecation({ ...invoices, deprecation: operation, parameters: parameters(parameter) }, '')(() => parameters(parameter).map(({ field }) => field));
  expect(announced(soon, late)).toEqual(SOON);
  expect(announced(late, soon)).toEqual(SOON);
  expect(announced(late, late)).toEqual(LATE);
});

test('asks for what a request used only if some of it may be deprecated', () => {
  const asked = () => {
    throw new Error('asked');
  };
  expect(compileDeprecation({ ...invoices, deprecation: soon }, '')(asked)).toEqual(SOON);
});

test('announces the day since when, not the one of another deprecation', () => {
  const earlier = { since: '2026-06-01', sunset: '2031-01-01' };
  const announce = compileDeprecation({ ...invoices, deprecation: earlier, response: going(invoices.response, 'data', late) }, '');
  expect(announce(none)).toEqual(LATE);
  expect(compileDeprecation({ ...invoices, deprecation: earlier }, '')(none).slice(0, 4)).toEqual([
    ...['Deprecation', '@1780272000', 'Sunset', 'Wed, 01 Jan 2031 00:00:00 GMT'],
  ]);
});

test('announces a field within objects that contain each other', () => {
  const fields: Field[] = [];
  const recursive: Shape = { ...invoices.response, fields, byName: new Map() };
  const data = invoices.response.byName.get('data') as Field;
  fields.push({ ...data, name: 'parent', shape: recursive }, deprecated({ ...data, name: 'last', shape: recursive }));
  expect(compileDeprecation({ ...invoices, response: recursive }, '')(none)).toEqual(SOON);
});

test('rejects an announcement that is too late or is not in days', () => {
  expect(checkDeprecation('x', soon)).toEqual(soon);
  expect(() => checkDeprecation('x', { since: '2027-01-01', sunset: '2027-12-31' })).toThrow('12 months after 2027-01-01 at the earliest');
  expect(() => checkDeprecation('x', { since: '2027', sunset: '2029-01-01' })).toThrow('must be days');
});

test('marks deprecations in the description and the reference', () => {
  const document = buildDocument('/', [{ ...invoices, deprecation: soon }]);
  const described = document.paths['/v1/invoices']?.['get'];
  expect(described).toMatchObject({ deprecated: true, responses: { 200: { headers: { Deprecation: {}, Sunset: {}, Link: {} } } } });
  expect(described?.description).toContain('Deprecated since 2027-01-01; it may be gone from 2028-01-01 on.');
});
