import type { Text } from '../src/json-buffer.ts';
import { BOOLEAN, CURSOR, ENUM, INTEGER, LIST, MESSAGE, NUMBER, PLAIN, RAW, STRING, TIMESTAMP, camelCase, dateText, planOf } from '../src/json-plan.ts';
import { text } from '../src/json-values.ts';
import type { EnumShape, Field, Kind, StringFormat } from '../src/shape.ts';
import { field as fieldNamed, shape } from './fields.ts';

const field = (more: Partial<Field>): Field => fieldNamed('x', 'string', more);

function enumeration(...names: [number, string][]): EnumShape {
  return { typeName: '', doc: '', names: new Map(names), docs: new Map(), generated: new Map(), zero: '', spellings: new Map() };
}

const planned = (more: Partial<Field>) => planOf(shape(field(more)), 'snake').fields[0]!;

const read = ({ words, length }: Text): string => Buffer.from(words.buffer).toString('latin1', 0, length);

test.each([
  ['id', 'id'],
  ['job_type_id', 'jobTypeId'],
  ['a_b_c', 'aBC'],
  ['line_2', 'line2'],
])('spells %s as %s in camel case', (name, expected) => {
  expect(camelCase(name)).toBe(expected);
});

describe('a key', () => {
  const example = () => shape(field({ name: 'job_id', number: 2 }), field({ name: 'tag_ids', number: 5, repeated: true }), field({ name: 'at', number: 7 }));

  test('begins the object if it is the first, and follows a comma otherwise', () => {
    expect(planOf(example(), 'snake').fields.map(({ key }) => read(key))).toEqual(['{"job_id":', ',"tag_ids":[', ',"at":']);
  });

  test('is in camel case in that style', () => {
    expect(planOf(example(), 'camel').fields.map(({ key }) => read(key))).toEqual(['{"jobId":', ',"tagIds":[', ',"at":']);
    expect(planOf(example(), 'camel').fields.map(({ absent }) => read(absent))).toEqual(['{"jobId":""', ',"tagIds":[]', ',"at":""']);
  });

  test('is found by the number of its field', () => {
    const { fields, byNumber } = planOf(example(), 'snake');
    expect(byNumber).toHaveLength(8);
    expect([2, 5, 7].map((number) => byNumber[number])).toEqual(fields);
    expect(fields.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect([0, 1, 3, 4, 6].map((number) => byNumber[number])).toEqual([undefined, undefined, undefined, undefined, undefined]);
  });
});

test('makes the plan of a shape once for each style', () => {
  const example = shape(field({ name: 'job_id' }));
  const snake = planOf(example, 'snake');
  expect(planOf(example, 'snake')).toBe(snake);
  expect(planOf(example, 'camel')).not.toBe(snake);
  expect(planOf(shape(field({ name: 'job_id' })), 'snake')).not.toBe(snake);
});

describe('a value that is not on the wire', () => {
  test.each<[Kind, string]>([
    ['uuid', '""'],
    ['string', '""'],
    ['date', '""'],
    ['timestamp', '"1970-01-01T00:00:00Z"'],
    ['cents', '0'],
    ['integer', '0'],
    ['number', '0'],
    ['boolean', 'false'],
    ['enum', 'null'],
    ['object', 'null'],
    ['reference', 'null'],
    ['json', 'null'],
  ])('is its default if it is a %s', (kind, expected) => {
    expect(read(planned({ kind }).absent)).toBe(`{"x":${expected}`);
    expect(read(planned({ kind }).nothing)).toBe(expected);
  });

  test.each<Kind>(['uuid', 'timestamp', 'cents', 'boolean', 'object'])('is null if it is nullable, and [] if it is repeated: %s', (kind) => {
    expect(read(planned({ kind, nullable: true }).absent)).toBe('{"x":null');
    expect(read(planned({ kind, nullable: true }).nothing)).toBe('null');
    expect(read(planned({ kind, repeated: true }).absent)).toBe('{"x":[]');
    expect(read(planned({ kind, repeated: true }).nothing)).toBe('[]');
  });
});

test.each<[Kind, number]>([
  ['uuid', PLAIN],
  ['date', PLAIN],
  ['local_date', PLAIN],
  ['string', STRING],
  ['reference', MESSAGE],
  ['object', MESSAGE],
  ['list', LIST],
  ['timestamp', TIMESTAMP],
  ['cents', INTEGER],
  ['integer', INTEGER],
  ['boolean', BOOLEAN],
  ['enum', ENUM],
  ['number', NUMBER],
  ['cursor', CURSOR],
  ['json', RAW],
])('plans a %s as kind %d', (kind, expected) => {
  expect(planned({ kind }).kind).toBe(expected);
});

test.each<[StringFormat, number]>([
  ['phone', PLAIN],
  ['color', PLAIN],
  ['currency', PLAIN],
  ['revision', PLAIN],
  ['time_zone', PLAIN],
  ['email', STRING],
  ['url', STRING],
  ['one_line', STRING],
  ['idempotency_key', STRING],
  ['json_pointer', STRING],
])('copies a string of the format %s unescaped only if it cannot contain what JSON escapes', (format, expected) => {
  expect(planned({ format }).kind).toBe(expected);
});

test('passes on the shape of an object and the operation of a cursor', () => {
  const inner = shape();
  expect(planned({ kind: 'object', shape: inner })).toMatchObject({ shape: inner, cursorOf: undefined, plan: undefined });
  expect(planned({ kind: 'cursor', cursorOf: 'ListJobs' })).toMatchObject({ shape: undefined, cursorOf: 'ListJobs' });
  expect(planned({ repeated: true }).repeated).toBe(true);
  expect(planned({}).repeated).toBe(false);
});

test('spells booleans as false and true, and an enum value as its quoted name', () => {
  const spellings = (more: Partial<Field>): (string | undefined)[] => Array.from(planned(more).spellings, (each) => each && read(each));
  expect(spellings({ kind: 'boolean' })).toEqual(['false', 'true']);
  expect(spellings({ kind: 'enum', enum: enumeration([1, 'OPEN'], [3, 'VOID']) })).toEqual([undefined, '"OPEN"', undefined, '"VOID"']);
  expect(spellings({ kind: 'integer' })).toEqual([]);
});

describe('the room of a value', () => {
  test.each([1, 30, 38, 39, 47, 200])('suffices for a comma and an enum value of %i letters, copied in whole words', (letters) => {
    const { spellings, room } = planned({ kind: 'enum', repeated: true, enum: enumeration([1, 'A'], [2, 'A'.repeat(letters)], [4, 'B']) });
    const data = new DataView(new ArrayBuffer(room));
    expect(text(data, 1, spellings[2]!)).toBe(letters + 3);
  });

  test('is 40 bytes and a word, and more only for the longer name of an enum value', () => {
    expect(planned({ kind: 'timestamp' }).room).toBe(48);
    expect(planned({ kind: 'enum', enum: enumeration([1, 'A'.repeat(38)]) }).room).toBe(48);
    expect(planned({ kind: 'enum', enum: enumeration([1, 'A'.repeat(39)]) }).room).toBe(49);
  });
});

describe('the room of an object', () => {
  test('suffices for its braces, keys and longest values, and the last word that is copied', () => {
    for (let letters = 39; letters < 48; letters++) {
      const long = field({ kind: 'enum', enum: enumeration([1, 'A'.repeat(letters)]) });
      const { fields, room } = planOf(shape({ ...long, name: 'a' }, { ...long, name: 'bc' }, { ...long, name: 'def' }), 'snake');
      const data = new DataView(new ArrayBuffer(room));
      const end = fields.reduce((at, { key, spellings }) => text(data, text(data, at, key), spellings[1]!), 0);
      data.setUint8(end, 0x7d);
      const name = 'A'.repeat(letters);
      expect(JSON.parse(Buffer.from(data.buffer).toString('latin1', 0, end + 1))).toEqual({ a: name, bc: name, def: name });
    }
  });

  test('grows by each key and value', () => {
    expect(planOf(shape(), 'snake').room).toBe(8);
    expect(planOf(shape(field({ name: 'a' }), field({ name: 'bc', repeated: true })), 'snake').room).toBe(8 + 5 + 48 + 7 + 48);
  });
});

describe('the beginning of a timestamp', () => {
  test.each([
    [0, '"1970-01-01T'],
    [-1, '"1969-12-31T'],
    [20_513, '"2026-03-01T'],
    [20_513 + 4096, '"2037-05-18T'],
    [20_513 - 4096, '"2014-12-13T'],
    [20_513, '"2026-03-01T'],
  ])('on day %i is %s', (day, expected) => {
    expect(read(dateText(day))).toBe(expected);
  });

  test('is kept for 4096 consecutive days', () => {
    const range = Array.from({ length: 4096 }, (_, index) => 18_000 + index);
    const texts = range.map(dateText);
    expect(range.filter((day, index) => dateText(day) !== texts[index])).toEqual([]);
    dateText(18_000 + 4096);
    expect(dateText(18_000)).not.toBe(texts[0]);
  });
});
