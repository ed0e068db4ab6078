import { readMessage, type Field } from '../src/index.ts';
import { field, shape } from './fields.ts';

const item = shape(field('unit_cents', 'cents'), field('note', 'string', { nullable: true }));
const read = (fields: Field[], json: unknown, keys: 'snake' | 'camel' = 'snake') => {
  const { value, problems } = readMessage<Record<string, unknown>>(shape(...fields), json, keys);
  return { value, problems: problems.map(({ field: of, code, message }) => `${of} ${code}: ${message}`) };
};
const WRAPPED = field('fees', 'list', { nullable: true, shape: shape(field('values', 'object', { repeated: true, shape: item })) });

test.each([null, [], 'text', 7, undefined])('%j is no object', (json) => {
  expect(read([], json)).toEqual({ value: {}, problems: ['(root) INVALID_FORMAT: Give a JSON object.'] });
});

test('a value that is no object is refused where an object belongs', () => {
  expect(read([field('tax', 'object', { shape: item })], { tax: 'text' }).problems).toEqual(['tax INVALID_FORMAT: Give a JSON object.']);
});

test.each<[string, Partial<Field>, unknown, string[]]>([
  ['', {}, '', ['name MISSING: It cannot be null: give a value.']],
  ['that is nullable', { nullable: true }, null, []],
  ['that is copied from elsewhere', { dispensable: true }, '', ['name INVALID_FORMAT: It cannot be null: give a value, or leave it out.']],
  ['that is nullable and copied from elsewhere', { nullable: true, dispensable: true }, null, []],
  ['that null clears', { nullable: true, nullClears: true }, '', []],
])('null for a field %s', (_, more, value, problems) => {
  expect(read([field('name', 'string', more)], { name: null })).toEqual({ value: { name: value }, problems });
});

test.each<[string, Partial<Field>, unknown, string[]]>([
  ['', {}, '', ['name MISSING: Give a value.']],
  ['that is nullable', { nullable: true }, null, []],
  ['that is copied from elsewhere', { dispensable: true }, '', []],
  ['that null clears', { nullable: true, nullClears: true }, null, []],
])('no value for a field %s', (_, more, value, problems) => {
  expect(read([field('name', 'string', more)], {})).toEqual({ value: { name: value }, problems });
});

test.each<[string, Partial<Field>, string, unknown, string[]]>([
  ['', {}, '9999-12-31T23:59:59Z', null, []],
  ['that null clears', { nullClears: true }, '9999-12-31T23:59:59Z', 0, []],
  ['that null clears', { nullClears: true }, '1970-01-01T00:00:00Z', null, ['ends_at OUT_OF_RANGE: Give null to remove it, or another value.']],
  ['', {}, '1970-01-01T00:00:00Z', 0, []],
])('an expiry %s with %j given as %s', (_, more, given, value, problems) => {
  expect(read([field('ends_at', 'timestamp', { nullable: true, endless: true, ...more })], { ends_at: given })).toEqual({
    value: { ends_at: value },
    problems,
  });
});

test.each<[Field['kind'], unknown]>([
  ['boolean', false],
  ['cents', 0],
  ['integer', 0],
  ['number', 0],
  ['timestamp', 0],
  ['string', ''],
  ['uuid', ''],
])('a derived %s is ignored, and left at %j', (kind, zero) => {
  expect(read([field('derived', kind, { derived: true })], { derived: 'anything' })).toEqual({ value: { derived: zero }, problems: [] });
});

test.each<[Partial<Field>, unknown, string[]]>([
  [{}, undefined, ['MISSING: Give a list, [] when there is none.']],
  [{}, null, ['MISSING: Give a list, [] when there is none.']],
  [{}, 'x', ['INVALID_FORMAT: Give a list, [] when there is none.']],
  [{ range: { minItems: 2 } }, undefined, ['MISSING: Give a list of at least 2.']],
  [{ range: { minItems: 2 } }, ['a'], ['OUT_OF_RANGE: Give at least 2.']],
  [{ range: { minItems: 2 } }, ['a', 'b'], []],
  [{ range: { maxItems: 2 } }, ['a', 'b'], []],
  [{ range: { maxItems: 2 } }, ['a', 'b', 'c'], ['OUT_OF_RANGE: Give at most 2.']],
  [{}, ['a', null], ['INVALID_FORMAT: Give a string.']],
])('a list %j given as %j', (more, names, problems) => {
  const found = read([field('names', 'string', { repeated: true, ...more })], { names }).problems;
  expect(found.map((text) => text.replace(/^names(\[1\])? /, ''))).toEqual(problems);
});

test('problems inside objects and lists have the path to them, in the spelling of the keys', () => {
  const fields = [field('line_items', 'object', { repeated: true, shape: item }), field('cost_of', 'object', { shape: item }), WRAPPED];
  const json = {
    lineItems: [{ unitCents: 1 }, { unitCents: 'x', surprise: 1 }],
    costOf: { note: null },
    fees: [{ unitCents: 1.5 }],
    cost_of: 1,
  };
  expect(read(fields, json, 'camel').problems).toEqual([
    'lineItems[1].unitCents INVALID_FORMAT: Give an integer.',
    'lineItems[1].surprise UNKNOWN_FIELD: Remove it, or spell it as one of unitCents, note.',
    'costOf.unitCents MISSING: Give a value.',
    'fees[0].unitCents INVALID_FORMAT: Give an integer.',
    'cost_of UNKNOWN_FIELD: Remove it, or spell it as one of lineItems, costOf, fees.',
  ]);
});

test('a list that may be null differs from an empty one', () => {
  expect(read([WRAPPED], { fees: null })).toEqual({ value: { fees: null }, problems: [] });
  expect(read([WRAPPED], { fees: [] })).toEqual({ value: { fees: { values: [] } }, problems: [] });
  expect(read([WRAPPED], { fees: {} }).problems).toEqual(['fees INVALID_FORMAT: Give a list, [] when there is none.']);
});

test('an expiry beyond every time that can be held is none, and one before them is refused', () => {
  const expiry = [field('expires_at', 'timestamp', { nullable: true, endless: true })];
  expect(read(expiry, { expires_at: '9999-12-31T23:59:59Z' })).toEqual({ value: { expires_at: null }, problems: [] });
  expect(read(expiry, { expires_at: '0001-01-01T00:00:00Z' }).problems).toEqual([expect.stringContaining('expires_at OUT_OF_RANGE')]);
  expect(read([field('at', 'timestamp')], { at: '9999-12-31T23:59:59Z' }).problems).toEqual([expect.stringContaining('at OUT_OF_RANGE')]);
});
