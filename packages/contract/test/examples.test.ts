import { exampleId, exampleOf, exampleRecord, goingText, publicText, sentence } from '../src/examples.ts';
import type { EnumShape, Field, Kind, StringFormat } from '../src/shape.ts';
import { field as fieldNamed, shape } from './fields.ts';

const field = (kind: Kind, more?: Partial<Field>): Field => fieldNamed('job_type', kind, more);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/;
const statuses: EnumShape = {
  typeName: '',
  doc: '',
  names: new Map([
    [2, 'OPEN'],
    [1, 'VOID'],
  ]),
  docs: new Map(),
  generated: new Map(),
  zero: '',
  spellings: new Map(),
};

describe('an example id', () => {
  test('is a UUID of version 4 that depends on the name only', () => {
    expect(exampleId('request')).toMatch(UUID);
    expect(exampleId('request')).toBe(exampleId('request'));
    expect(exampleId('jobs')).not.toBe(exampleId('request'));
  });

  test('has the digits of the SHA-256 of the name', () => {
    // ba7816bf 8f01 cfea 4141 40de5dae2223…
    expect(exampleId('abc')).toBe('ba7816bf-8f01-4fea-8141-40de5dae2223');
  });
});

describe('an example', () => {
  test.each<[Kind, Partial<Field>, unknown]>([
    ['string', {}, 'Job type'],
    ['date', {}, '2026-03-02'],
    ['local_date', {}, '2026-03-02'],
    ['date', { name: 'issued_before' }, '2026-04-01'],
    ['local_date', { name: 'issued_before' }, '2026-04-01'],
    ['date', { name: 'before_issued' }, '2026-03-02'],
    ['timestamp', {}, '2026-03-02T15:04:05.123456Z'],
    ['timestamp', { name: 'updated_before' }, '2026-04-01T00:00:00Z'],
    ['timestamp', { name: 'due_at' }, '2026-04-02T04:59:59Z'],
    ['timestamp', { name: 'starts_at' }, '2026-03-03T15:00:00Z'],
    ['timestamp', { name: 'window_start_at' }, '2026-03-03T15:00:00Z'],
    ['timestamp', { name: 'ends_at' }, '2026-03-03T17:00:00Z'],
    ['timestamp', { name: 'window_end_at' }, '2026-03-03T17:00:00Z'],
    ['timestamp', { name: 'created_at' }, '2026-02-27T16:20:31.402118Z'],
    ['timestamp', { name: 'due_at_before_starts_at_ends_at_created_at_last' }, '2026-03-02T15:04:05.123456Z'],
    ['cents', {}, 12_900],
    ['integer', {}, 1],
    ['integer', { range: { min: -5 } }, 1],
    ['integer', { range: { min: 7 } }, 7],
    ['number', {}, 1],
    ['number', { range: { max: 1 } }, 0.0825],
    ['number', { range: { max: 2 } }, 1],
    ['boolean', {}, true],
    ['enum', { enum: statuses }, 'OPEN'],
    ['enum', {}, undefined],
    ['json', {}, {}],
    ['cursor', {}, undefined],
    ['reference', { name: 'kind', refersTo: 'job-types' }, { id: exampleId('job_type'), name: 'Kind' }],
    ['uuid', { name: 'first_job_id', refersTo: 'jobs' }, exampleId('job')],
    ['uuid', { name: 'webhook_id' }, exampleId('webhook')],
    ['uuid', { name: 'first_ids_list' }, exampleId('first_ids_list')],
    ['uuid', { name: 'own', refersTo: 'class-sizes' }, exampleId('class_size')],
    ['reference', {}, { id: exampleId('job_type'), name: 'Job type' }],
    ['uuid', {}, exampleId('job_type')],
  ])('of a %s with %j suits its kind', (kind, more, expected) => {
    expect(exampleOf(field(kind, more), 'snake')).toEqual(expected);
  });

  test.each<[Kind, string, unknown]>([
    ['uuid', '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e', '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e'],
    ['string', 'Dana', 'Dana'],
    ['date', '2027-01-01', '2027-01-01'],
    ['local_date', '2027-01-01', '2027-01-01'],
    ['timestamp', '2027-01-01T00:00:00Z', '2027-01-01T00:00:00Z'],
    ['cents', '0', 0],
    ['integer', '0', 0],
    ['number', '0.5', 0.5],
    ['boolean', 'true', true],
    ['boolean', 'false', false],
    ['enum', 'VOID', 'VOID'],
    ['json', '{"a":[1]}', { a: [1] }],
    ['cursor', 'eyJ', 'eyJ'],
    ...(['uuid', 'string', 'date', 'timestamp', 'cents', 'boolean', 'enum', 'object', 'json'] as const).map((kind): [Kind, string, null] => [
      kind,
      'null',
      null,
    ]),
  ])('of a %s is what the contract gives: %s', (kind, example, expected) => {
    const own = field(kind, { example, name: 'at_before', format: 'email', range: { min: 7, max: 1 }, enum: statuses, shape: shape() });
    expect(exampleOf(own, 'snake')).toEqual(expected);
  });

  test.each<[StringFormat, string]>([
    ['time_zone', 'America/Chicago'],
    ['phone', '+15125550100'],
    ['email', 'dana@example.com'],
    ['any_phone', '(512) 555-0100'],
    ['color', '#1F6FEB'],
    ['currency', 'USD'],
    ['url', 'https://example.com/hooks/truckroll'],
    ['idempotency_key', 'b1946ac9-2492-4d26-8c4b-3f7e0a6d1c52'],
    ['one_line', 'Job type'],
  ])('of a string suits its format %s', (format, expected) => {
    expect(exampleOf(field('string', { format }), 'snake')).toBe(expected);
  });

  test('of a revision is a SHA-256 in hexadecimal digits', () => {
    expect(exampleOf(field('string', { format: 'revision', name: 'abc' }), 'snake')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  test('does not exist for bytes, which are not public', () => {
    expect(() => exampleOf(field('bytes'), 'snake')).toThrow('job_type is not public');
  });
});

describe('an example of an object', () => {
  const tax = shape(field('cents', { name: 'total_cents' }), field('number', { name: 'tax_rate', range: { max: 1 } }));

  test('has an example of each field, and its own values instead where the contract gives some', () => {
    expect(exampleOf(field('object', { shape: tax }), 'snake')).toEqual({ total_cents: 12_900, tax_rate: 0.0825 });
    expect(exampleOf(field('object', { shape: tax, example: '{"total_cents":5}' }), 'snake')).toEqual({ total_cents: 5, tax_rate: 0.0825 });
  });

  test('has the id of the record that it is, or of the field that holds it, unless the contract gives one', () => {
    const id = field('uuid', { name: 'id' });
    const job = { ...shape(id), typeName: 'truckroll.scheduling.v1.JobType' };
    expect(exampleRecord(job, 'snake')).toEqual({ id: exampleId('job_type') });
    expect(exampleOf(field('object', { name: 'sold_jobs', shape: job }), 'snake')).toEqual({ id: exampleId('sold_job') });
    expect(exampleOf(field('object', { name: 'data', shape: job }), 'snake')).toEqual({ id: exampleId('job_type') });
    expect(exampleRecord(shape({ ...id, example: 'given' }), 'snake')).toEqual({ id: 'given' });
    expect(exampleRecord(shape(field('uuid', { name: 'job_id' })), 'snake')).toEqual({ job_id: exampleId('job') });
    expect(exampleRecord(shape(field('string', { name: 'id' })), 'snake')).toEqual({ id: 'Id' });
  });

  test('has one element in each list', () => {
    const list = field('list', { name: 'fees', shape: shape(field('object', { name: 'values', repeated: true, shape: tax })) });
    const record = shape(field('boolean', { name: 'is_open' }), field('string', { name: 'tag_names', repeated: true }), list);
    expect(exampleRecord(record, 'snake')).toEqual({ is_open: true, tag_names: ['Tag names'], fees: [{ total_cents: 12_900, tax_rate: 0.0825 }] });
    expect(exampleRecord(record, 'camel')).toEqual({ isOpen: true, tagNames: ['Tag names'], fees: [{ totalCents: 12_900, taxRate: 0.0825 }] });
  });
});

test.each([
  ['job-types', 'Job types'],
  ['line_item__id', 'Line item id'],
  ['a-_b', 'A b'],
  ['Jobs', 'Jobs'],
  ['', ''],
])('makes a sentence of %j: %j', (name, expected) => {
  expect(sentence(name)).toBe(expected);
});

test('says since when a field is deprecated, and until when it stays at least', () => {
  expect(goingText({})).toEqual([]);
  expect(goingText({ deprecation: { since: '2026-01-01', sunset: '2027-01-01' } })).toEqual([
    'Deprecated since 2026-01-01; it may be gone from 2027-01-01 on.',
  ]);
});

test.each([
  ['An invoice (api.md, Invoice). One (or two) a day (decisions §4).', 'An invoice. One (or two) a day.'],
  ['Paid (api.md, Amounts) and closed (api.md, Status).', 'Paid and closed.'],
  ['Of an API (see the guide).', 'Of an API (see the guide).'],
])('leaves references to internal documents out of %j', (doc, expected) => {
  expect(publicText(doc)).toBe(expected);
});
