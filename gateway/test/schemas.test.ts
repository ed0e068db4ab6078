import { operations, resources, type EnumShape, type Field, type Kind, type Range, type Shape, type StringFormat } from '@truckroll/contract';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Components, scalar } from '../src/openapi/schemas.ts';

const published = JSON.parse(readFileSync(join(import.meta.dirname, '../openapi.json'), 'utf8')).components.schemas;

const field = (kind: Kind, more: Partial<Field> = {}): Field => ({
  ...{ name: 'total_price', number: 1, kind, nullable: false, repeated: false, derived: false, endless: false, dispensable: false, doc: '' },
  ...more,
});
const shape = (typeName: string, fields: Field[] = [], doc = ''): Shape => ({
  typeName,
  doc,
  fields,
  byName: new Map(fields.map((each) => [each.name, each])),
});
const NONE: ReadonlySet<Shape> = new Set();
const MOST = 9_007_199_254_740_991;

test.each<[Kind, Range | undefined, object]>([
  ['uuid', undefined, { type: 'string', format: 'uuid' }],
  ['date', undefined, { type: 'string', format: 'date' }],
  ['local_date', undefined, { type: 'string', format: 'date' }],
  ['timestamp', undefined, { type: 'string', format: 'date-time' }],
  ['cents', undefined, { type: 'integer', format: 'int64', minimum: -MOST, maximum: MOST }],
  ['cents', { min: 0 }, { type: 'integer', format: 'int64', minimum: 0, maximum: MOST }],
  ['cents', { max: 0 }, { type: 'integer', format: 'int64', minimum: -MOST, maximum: 0 }],
  ['integer', undefined, { type: 'integer' }],
  ['integer', { min: 0 }, { type: 'integer', minimum: 0 }],
  ['integer', { min: 1, max: 100 }, { type: 'integer', minimum: 1, maximum: 100 }],
  ['number', undefined, { type: 'number' }],
  ['number', { min: 0, max: 1 }, { type: 'number', minimum: 0, maximum: 1 }],
  ['number', { above: 0 }, { type: 'number', exclusiveMinimum: 0 }],
  ['boolean', undefined, { type: 'boolean' }],
  ['cursor', undefined, { type: 'string' }],
  ['json', undefined, { type: 'object', additionalProperties: true }],
  ['string', undefined, { type: 'string' }],
  ['string', { minLength: 0, maxLength: 500 }, { type: 'string', minLength: 0, maxLength: 500 }],
])('describes %s within %j as %j', (kind, range, schema) => {
  expect(scalar(field(kind, range && { range }))).toStrictEqual(schema);
});

test.each<Kind>(['enum', 'reference', 'object', 'list', 'bytes'])('describes no %s as a scalar', (kind) => {
  expect(() => scalar(field(kind))).toThrow(`${kind} is not a scalar`);
});

test.each<[StringFormat, object]>([
  ['time_zone', { type: 'string' }],
  ['email', { type: 'string', format: 'email' }],
  ['currency', { type: 'string', enum: ['USD'] }],
  ['url', { type: 'string', format: 'uri' }],
  ['json_pointer', { type: 'string', format: 'json-pointer' }],
])('describes a %s as %j', (format, schema) => {
  expect(scalar(field('string', { format }))).toEqual(schema);
});

test('describes the type of an event as one of all types, a test included', () => {
  const { type, enum: types } = scalar(field('string', { format: 'event_type' }));
  expect(type).toBe('string');
  expect(types).toEqual(expect.arrayContaining(['service_request.created', 'webhook.test']));
});

test('describes a kind of record in the change feed as one of all kinds', () => {
  expect(scalar(field('string', { format: 'change_kind' }))).toMatchObject({ type: 'string', enum: expect.arrayContaining(['invoices', 'interactions']) });
});

test.each<[StringFormat, string[], string[]]>([
  ['phone', ['+15125550100', '+12'], ['15125550100', '+05125550100', '+1', '+1234567890123456', '+1 512']],
  ['color', ['#1F6FEB', '#abcdef', '#000000'], ['1F6FEB', '#1F6FE', '#1F6FEB0', '#GGGGGG']],
  ['revision', ['0123456789abcdef'.repeat(4)], ['0123456789abcdef', 'A'.repeat(64), 'g'.repeat(64), 'a'.repeat(65)]],
  ['one_line', ['', 'Till 2 – é'], ['a\nb', 'a\u0000', 'a\u009f', 'a\u202eb', 'a\u2028b', 'a\u2066b']],
  ['idempotency_key', ['a', 'Az09_-'], ['', 'a b', 'a.b', 'é']],
])('describes a %s by a pattern that %j have and %j have not', (format, right, wrong) => {
  const { pattern, ...rest } = scalar(field('string', { format }));
  expect(rest).toEqual({ type: 'string' });
  const matching = [...right, ...wrong].filter((text) => new RegExp(pattern as string, 'u').test(text));
  expect(matching).toEqual(right);
});

describe('a field', () => {
  const part = shape('truckroll.billing.v1.Part');
  const status: EnumShape = {
    ...{ typeName: 'truckroll.billing.v1.Status', doc: 'How it is (decisions §2).', zero: 'S_NONE' },
    docs: new Map([
      ['OPEN', 'Not paid (api.md).'],
      ['PAID', 'Paid.'],
    ]),
    names: new Map([[1, 'OPEN']]),
    generated: new Map(),
    spellings: new Map(),
  };
  const deprecation = { since: '2027-01-01', sunset: '2028-01-01' };
  const gone = 'Deprecated since 2027-01-01; it may be gone from 2028-01-01 on.';

  test.each<[string, Field, object]>([
    ['plain', field('integer'), { type: 'integer', examples: [1] }],
    ['with a meaning', field('integer', { doc: 'How many (decisions §4).' }), { type: 'integer', description: 'How many.', examples: [1] }],
    ['derived', field('boolean', { derived: true }), { type: 'boolean', readOnly: true, examples: [true] }],
    ['deprecated', field('boolean', { deprecation }), { type: 'boolean', deprecated: true, description: gone, examples: [true] }],
    [
      'deprecated, with a meaning',
      field('boolean', { doc: 'A.', deprecation }),
      { type: 'boolean', deprecated: true, description: `A. ${gone}`, examples: [true] },
    ],
    ['nullable', field('cents', { nullable: true }), { type: ['integer', 'null'], format: 'int64', minimum: -MOST, maximum: MOST, examples: [12_900] }],
    ['nullable, of few values', field('string', { format: 'currency', nullable: true }), { type: ['string', 'null'], enum: ['USD', null], examples: ['USD'] }],
    ['an object', field('object', { shape: part, doc: 'A.', derived: true }), { $ref: '#/components/schemas/Part', description: 'A.', readOnly: true }],
    [
      'a nullable object',
      field('object', { shape: part, doc: 'A.', nullable: true }),
      { description: 'A.', anyOf: [{ $ref: '#/components/schemas/Part' }, { type: 'null' }] },
    ],
    ['an enumeration', field('enum', { enum: status }), { $ref: '#/components/schemas/Status' }],
    ['a nullable enumeration', field('enum', { enum: status, nullable: true }), { anyOf: [{ $ref: '#/components/schemas/Status' }, { type: 'null' }] }],
    ['repeated', field('integer', { repeated: true, doc: 'A.' }), { type: 'array', description: 'A.', items: { type: 'integer' } }],
    [
      'repeated within bounds',
      field('uuid', { repeated: true, range: { minItems: 1, maxItems: 50 } }),
      { type: 'array', items: { type: 'string', format: 'uuid' }, minItems: 1, maxItems: 50 },
    ],
    [
      'repeated objects',
      field('object', { shape: part, repeated: true, nullable: true }),
      { type: ['array', 'null'], items: { $ref: '#/components/schemas/Part' } },
    ],
    [
      'a nullable list',
      field('list', { nullable: true, shape: shape('truckroll.billing.v1.Ids', [field('uuid', { repeated: true })]), range: { maxItems: 9 } }),
      { type: ['array', 'null'], items: { type: 'string', format: 'uuid' }, maxItems: 9 },
    ],
    [
      'a type that endpoints subscribe to',
      field('string', { format: 'subscription', repeated: true }),
      { type: 'array', items: { $ref: '#/components/schemas/EventType' } },
    ],
  ])('that is %s', (_, of, schema) => {
    expect(new Components(NONE).field(of, 'snake')).toEqual(schema);
  });

  test('adds a component for each enumeration, with the meaning of every value', () => {
    const components = new Components(NONE);
    components.field(field('enum', { enum: status }), 'snake');
    expect(components.schemas['Status']).toEqual({ type: 'string', description: 'How it is.\n\n- `OPEN`: Not paid.\n- `PAID`: Paid.', enum: ['OPEN', 'PAID'] });
  });

  test('adds the types that endpoints subscribe to once, without the test', () => {
    const components = new Components(NONE);
    components.field(field('string', { format: 'subscription' }), 'snake');
    const { type, description, enum: types } = components.schemas['EventType']!;
    expect([type, types]).toEqual(['string', published.EventType.enum]);
    expect(types).not.toContain('webhook.test');
    expect(description).toBe(published.EventType.description);
  });
});

describe('an object', () => {
  const fields = [
    field('integer', { name: 'total_price', number: 1 }),
    field('integer', { name: 'tax_rate', number: 2, nullable: true }),
    field('boolean', { name: 'archived', number: 3, dispensable: true }),
  ];
  const thing = shape('truckroll.billing.v1.Thing', fields, 'A thing (api.md).');

  test('has every key in an answer', () => {
    const components = new Components(NONE);
    expect(components.object(thing, 'snake')).toEqual({ $ref: '#/components/schemas/Thing' });
    expect(components.schemas).toEqual({
      Thing: {
        type: 'object',
        description: 'A thing.',
        required: ['total_price', 'tax_rate', 'archived'],
        properties: {
          total_price: { type: 'integer', examples: [1] },
          tax_rate: { type: ['integer', 'null'], examples: [1] },
          archived: { type: 'boolean', examples: [true] },
        },
      },
    });
  });

  test('has in a body no other keys, of which nullable and dispensable ones may be left out', () => {
    const components = new Components(NONE);
    components.object(shape(thing.typeName, fields), 'camel', 'body');
    expect(components.schemas['Thing']).toMatchObject({ type: 'object', required: ['totalPrice'], additionalProperties: false });
    expect(components.schemas['Thing']).not.toHaveProperty('description');
    expect(Object.keys(components.schemas['Thing']!.properties!)).toEqual(['totalPrice', 'taxRate', 'archived']);
  });

  test('has a complete example if it is a record', () => {
    const components = new Components(new Set([thing]));
    components.object(thing, 'camel');
    expect(components.schemas['Thing']!.examples).toEqual([{ totalPrice: 1, taxRate: 1, archived: true }]);
  });

  test('has one component for each use and spelling', () => {
    const components = new Components(NONE);
    const name = (of: Shape, ...more: ['snake' | 'camel', ('answer' | 'body')?]) =>
      components
        .object(of, ...more)
        .$ref!.split('/')
        .at(-1);
    expect([name(thing, 'snake'), name(thing, 'snake', 'answer'), name(thing, 'snake', 'body'), name(thing, 'snake')]).toEqual([
      ...['Thing', 'Thing', 'BillingThing', 'Thing'],
    ]);
    expect(Object.keys(components.schemas)).toEqual(['Thing', 'BillingThing']);
    expect(components.schemas['BillingThing']).toHaveProperty('additionalProperties', false);
    expect(components.schemas['Thing']).not.toHaveProperty('additionalProperties');
  });

  test('gets its package as a prefix if the name is taken, and may contain itself', () => {
    const components = new Components(NONE);
    const inner = shape('truckroll.scheduling.v1.Thing', [field('integer')]);
    const outer = shape('truckroll.billing.v1.Thing');
    const members = [field('object', { name: 'inner', shape: inner }), field('object', { name: 'parent', shape: outer, nullable: true })];
    components.object({ ...outer, fields: members.map((each) => (each.name === 'parent' ? { ...each, shape: outer } : each)) }, 'snake');
    expect(components.schemas['Thing']!.properties).toEqual({
      inner: { $ref: '#/components/schemas/SchedulingThing' },
      parent: { anyOf: [{ $ref: '#/components/schemas/Thing' }, { type: 'null' }] },
    });
    expect(components.schemas['SchedulingThing']!.properties).toEqual({ total_price: { type: 'integer', examples: [1] } });
  });
});

test('describes every record as published', () => {
  const components = new Components(new Set(resources.map(({ record }) => record)));
  for (const { response, camelCase } of operations) {
    const data = response.byName.get('data')!;
    components.field(data, camelCase ? 'camel' : 'snake');
  }
  const names = resources.map(({ record }) => record.typeName.split('.').at(-1)!);
  for (const name of names) expect([name, components.schemas[name]]).toEqual([name, published[name]]);
});
