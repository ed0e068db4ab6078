import { WireCursor } from '../src/wire-cursor.ts';

function fieldsOf(bytes: number[], start?: number, stop?: number): number[][] {
  const found: number[][] = [];
  for (const cursor = new WireCursor(Buffer.from(bytes), start, stop); cursor.field !== 0; cursor.advance()) {
    found.push([cursor.field, cursor.type, cursor.start, cursor.body, cursor.end]);
  }
  return found;
}

function tag(field: number, type: number): number[] {
  const bytes: number[] = [];
  let rest = BigInt(field) * 8n + BigInt(type);
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return [...bytes, Number(rest)];
}

test.each([
  ['an integer of one byte', [0x08, 0x7f], [[1, 0, 0, 1, 2]]],
  ['an integer of two bytes', [0x08, 0x80, 0x01], [[1, 0, 0, 1, 3]]],
  ['a negative integer', [0x08, ...new Array<number>(9).fill(0xff), 0x01], [[1, 0, 0, 1, 11]]],
  ['eight bytes', [0x49, 1, 2, 3, 4, 5, 6, 7, 8], [[9, 1, 0, 1, 9]]],
  ['four bytes', [0x55, 1, 2, 3, 4], [[10, 5, 0, 1, 5]]],
  ['an empty text', [0x0a, 0], [[1, 2, 0, 2, 2]]],
  ['a text of 127 bytes', [0x0a, 0x7f, ...new Array<number>(127).fill(0x08)], [[1, 2, 0, 2, 129]]],
  ['a text of 128 bytes', [0x0a, 0x80, 0x01, ...new Array<number>(128).fill(0x08)], [[1, 2, 0, 3, 131]]],
  ['a number of two bytes', [...tag(16, 2), 1, 0x61], [[16, 2, 0, 3, 4]]],
  ['the greatest number', [...tag(2 ** 29 - 1, 0), 5], [[2 ** 29 - 1, 0, 0, 5, 6]]],
])('finds a field with %s', (_, bytes, expected) => {
  expect(fieldsOf(bytes)).toEqual(expected);
});

test('finds no field in an empty message', () => {
  expect(fieldsOf([])).toEqual([]);
});

test('finds the field after one of each wire type', () => {
  const bytes = [0x08, 0x96, 0x01, 0x11, 1, 2, 3, 4, 5, 6, 7, 8, 0x1a, 2, 0x61, 0x62, 0x25, 1, 2, 3, 4, 0x28, 1];
  expect(fieldsOf(bytes)).toEqual([
    [1, 0, 0, 1, 3],
    [2, 1, 3, 4, 12],
    [3, 2, 12, 14, 16],
    [4, 5, 16, 17, 21],
    [5, 0, 21, 22, 23],
  ]);
});

test('finds only the fields between two positions', () => {
  expect(fieldsOf([0xff, 0xff, 0x08, 1, 0x10, 2, 0x18, 3], 2, 6)).toEqual([
    [1, 0, 2, 3, 4],
    [2, 0, 4, 5, 6],
  ]);
  expect(fieldsOf([0x08, 1, 0x10, 2], 2)).toEqual([[2, 0, 2, 3, 4]]);
  expect(fieldsOf([0x08, 1], 1, 1)).toEqual([]);
});

test('stays at the end', () => {
  const cursor = new WireCursor(Buffer.of(0x08, 1));
  cursor.advance();
  cursor.advance();
  expect(cursor).toMatchObject({ field: 0, start: 2, end: 2 });
});

test('calls messages, strings and bytes delimited', () => {
  expect(
    [
      [0x0a, 0],
      [0x08, 0],
      [0x09, 0, 0, 0, 0, 0, 0, 0, 0],
      [0x0d, 0, 0, 0, 0],
    ].map((bytes) => new WireCursor(Buffer.from(bytes)).delimited),
  ).toEqual([true, false, false, false]);
});

test('skips all consecutive occurrences of a field', () => {
  const cursor = new WireCursor(Buffer.of(0x08, 1, 0x08, 2, 0x10, 3, 0x08, 4));
  cursor.skipField();
  expect(cursor).toMatchObject({ field: 2, start: 4 });
  cursor.skipField();
  expect(cursor).toMatchObject({ field: 1, start: 6 });
  cursor.skipField();
  expect(cursor.field).toBe(0);
});

describe('a message that ends too early', () => {
  test.each([
    ['in its text', [0x0a, 5, 1], 7],
    ['in its text of almost 4 GiB', [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f], 6 + 0xffff_ffff],
    ['in its eight bytes', [0x09, 1], 9],
    ['in its four bytes', [0x0d, 1], 5],
    ['in its integer', [0x08, 0x80], 3],
    ['before its integer', [0x08], 2],
  ])('%s, has a field whose end lies beyond it', (_, bytes, end) => {
    const cursor = new WireCursor(Buffer.from(bytes));
    expect(cursor.end).toBe(end);
    cursor.advance();
    expect(cursor.field).toBe(0);
  });

  test.each([
    ['tag', [0x80]],
    ['length', [0x0a]],
    ['length', [0x0a, 0x80]],
  ])('in a %s, is refused', (_, bytes) => {
    expect(() => new WireCursor(Buffer.from(bytes))).toThrow('a message ends too early');
  });
});

test.each([3, 4, 6, 7])('refuses wire type %i', (type) => {
  expect(() => new WireCursor(Buffer.from(tag(9, type)))).toThrow(`field 9 of a message has wire type ${type}, which proto3 does not write`);
});
