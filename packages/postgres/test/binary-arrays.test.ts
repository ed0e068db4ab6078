// The expected bytes are those of PostgreSQL: select encode(array_send(array[true, false, null]), 'hex').
import { arrayOf, binaryArrays, type ArrayType } from '../src/binary-arrays.ts';
import { instantOf, uuidOf, wholeNumberOf } from '../src/binary-columns.ts';

const ID = '0191b3c4-5d6e-8f70-a192-b3c4d5e6f7f8';
const EPOCH = 946_684_800_000_000;

test.each<[ArrayType, unknown[], string]>([
  ['boolean', [true, false, null], '00000001000000010000001000000003000000010000000101 0000000100 ffffffff'],
  ['integer', [-2_147_483_648, 7], '0000000100000000000000170000000200000001 0000000480000000 0000000400000007'],
  [
    'bigint',
    [Number.MAX_SAFE_INTEGER, -1, 2 ** 32, -(2 ** 32) - 1],
    '0000000100000000000000140000000400000001 00000008001fffffffffffff 00000008ffffffffffffffff 000000080000000100000000 00000008fffffffeffffffff',
  ],
  ['double precision', [0.1, -2], '0000000100000000000002bd0000000200000001 000000083fb999999999999a 00000008c000000000000000'],
  ['text', ['é', undefined, ''], '0000000100000001000000190000000300000001 00000002c3a9 ffffffff 00000000'],
  ['bytea', [Buffer.from([0, 255]), null], '0000000100000001000000110000000200000001 0000000200ff ffffffff'],
  ['uuid', [ID, ID.toUpperCase()], `000000010000000000000b860000000200000001 ${`00000010${ID.replaceAll('-', '')}`.repeat(2)}`],
  ['timestamptz', [0, EPOCH + 1], '0000000100000000000004a00000000200000001 00000008fffca2fec4c82000 000000080000000000000001'],
  ['date', ['1970-01-01', '2000-01-02', '2026-03-01'], '00000001000000000000043a0000000300000001 00000004ffffd533 0000000400000001 0000000400002554'],
  ['jsonb', ['["é"]', '7'], '000000010000000000000eda0000000200000001 00000007015b22c3a9225d 000000020137'],
  ['text', [], '0000000100000000000000190000000000000001'],
])('encodes an array of %s: %j', (type, values, hex) => {
  expect(arrayOf(type, values).toString('hex')).toBe(hex.replaceAll(' ', ''));
});

test('encodes days since 1970 as dates', () => {
  expect(binaryArrays.day([0, 10_958, 20_513])).toEqual(binaryArrays.date(['1970-01-01', '2000-01-02', '2026-03-01']));
});

test.each<[number | bigint, string]>([
  [0, '0000 0000 0000 0000'],
  [0n, '0000 0000 0000 0000'],
  [7, '0001 0000 0000 0000 0007'],
  [9999, '0001 0000 0000 0000 270f'],
  // PostgreSQL leaves trailing zeros out, and accepts them.
  [10_000, '0002 0001 0000 0000 0001 0000'],
  [-10_001, '0002 0001 4000 0000 0001 0001'],
  [-10_001n, '0002 0001 4000 0000 0001 0001'],
  [99_999_999, '0002 0001 0000 0000 270f 270f'],
  [100_000_001n, '0003 0002 0000 0000 0001 0000 0001'],
  [10n ** 30n + 1n, '0008 0007 0000 0000 0064 0000 0000 0000 0000 0000 0000 0001'],
])('encodes the numeric %p by its digits of base 10,000', (value, hex) => {
  const bytes = hex.replaceAll(' ', '');
  const length = (bytes.length / 2).toString(16).padStart(8, '0');
  expect(binaryArrays.numeric([value, null]).toString('hex')).toBe(`0000000100000001000006a40000000200000001${length}${bytes}ffffffff`);
});

test.each(['', '0191b3c4', ID.slice(1), `${ID}0`, `${ID.slice(1)}g`, `${ID.slice(1)}/`, `${ID.slice(1)}\u0131`, `{${ID}}`])(
  'refuses %j, which is no UUID',
  (text) => {
    expect(() => binaryArrays.uuid([ID, text])).toThrow(new TypeError(`${text} is not a UUID`));
  },
);

test.each([
  ['0000000000000000', 0],
  ['00000000ffffffff', 2 ** 32 - 1],
  ['0000000100000000', 2 ** 32],
  ['001fffffffffffff', Number.MAX_SAFE_INTEGER],
  ['ffffffffffffffff', -1],
  ['fffffffeffffffff', -(2 ** 32) - 1],
])('decodes the bigint %s as %i', (hex, number) => {
  expect(wholeNumberOf(Buffer.from(hex, 'hex'))).toBe(number);
});

test.each([
  ['fffca2fec4c82000', 0],
  ['0000000000000001', EPOCH + 1],
])('decodes the instant %s as %i µs since 1970', (hex, at) => {
  expect(instantOf(Buffer.from(hex, 'hex'))).toBe(at);
});

test('decodes an id in lower case, with hyphens', () => {
  expect(uuidOf(Buffer.from(ID.replaceAll('-', ''), 'hex'))).toBe(ID);
});
