import { formatProblem, checkText, checkValue, type EnumShape, type Field } from '../src/index.ts';
import { field } from './fields.ts';

const SIZES: EnumShape = {
  typeName: 'Size',
  doc: '',
  names: new Map([
    [1, 'SMALL'],
    [2, 'LARGE'],
  ]),
  docs: new Map(),
  generated: new Map([
    ['SMALL', 'SIZE_SMALL'],
    ['LARGE', 'SIZE_LARGE'],
  ]),
  zero: 'SIZE_UNSPECIFIED',
  spellings: new Map([
    ['SIZE_SMALL', 'SMALL'],
    ['SIZE_LARGE', 'LARGE'],
  ]),
};
const MOST = Number.MAX_SAFE_INTEGER;
const UUID = '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';
const of = (kind: Field['kind'], more: Partial<Field> = {}): Field => field('f', kind, more);

/** The rows of a table of cases, each between the kind and rules of its field, for the test's name, and the field. */
function described<T extends unknown[]>(rows: [Field, ...T][]): [string, ...T, Field][] {
  return rows.map(([to, ...rest]) => [[to.kind, to.format, JSON.stringify(to.range)].filter(Boolean).join(' '), ...rest, to]);
}

test.each(
  described<[unknown, unknown]>([
    [of('uuid'), UUID.toUpperCase(), UUID],
    [of('string'), '', ''],
    [of('string', { range: { minLength: 1, maxLength: 2 } }), '😀😀', '😀😀'],
    [of('date'), '2024-02-29', '2024-02-29'],
    [of('local_date'), '2024-02-29', '2024-02-29'],
    [of('timestamp'), '2026-03-01T15:04:05.000001Z', 1_772_377_445_000_001],
    [of('cents'), -MOST, -MOST],
    [of('cents'), 0x80000000, 0x80000000],
    [of('integer'), -0x7fffffff, -0x7fffffff],
    [of('number'), 1.5, 1.5],
    [of('number', { range: { above: 0 } }), 0.001, 0.001],
    [of('integer', { range: { min: 1, max: 3 } }), 1, 1],
    [of('integer', { range: { min: 1, max: 3 } }), 3, 3],
    [of('integer', { range: { min: 1 } }), 1, 1],
    [of('integer', { range: { max: 3 } }), 3, 3],
    [of('boolean'), false, false],
    [of('enum', { enum: SIZES }), 'LARGE', 'SIZE_LARGE'],
    [of('json', { range: { maxLength: 7 } }), { a: 1 }, '{"a":1}'],
    [of('json'), {}, '{}'],
  ]),
)('a field of kind %s accepts %j as %j', (_, value, expected, to) => {
  expect(checkValue(to, value)).toEqual({ value: expected });
});

test.each(
  described<[unknown, string, string]>([
    [of('uuid'), 7, 'INVALID_UUID', 'Give a UUID'],
    [of('uuid'), `${UUID}0`, 'INVALID_UUID', 'Give a UUID'],
    [of('string'), 7, 'INVALID_FORMAT', 'Give a string.'],
    [of('string'), 'a\0', 'INVALID_FORMAT', 'NUL'],
    [of('string'), '\ud800', 'INVALID_FORMAT', 'surrogates'],
    [of('string', { range: { minLength: 1 } }), '', 'OUT_OF_RANGE', 'Give at least one character.'],
    [of('string', { range: { minLength: 2 } }), '😀', 'OUT_OF_RANGE', 'Give at least 2 characters.'],
    [of('string', { range: { maxLength: 2 } }), 'abc', 'OUT_OF_RANGE', 'Give at most 2 characters.'],
    [of('string', { format: 'color' }), 'red', 'INVALID_FORMAT', '#RRGGBB'],
    [of('string', { format: 'event_type' }), 'service_request.lost', 'INVALID_ENUM_VALUE', 'webhook.test'],
    [of('string', { format: 'subscription' }), 'webhook.test', 'INVALID_ENUM_VALUE', 'interaction.completed.'],
    [of('string', { format: 'change_kind' }), 'invoice', 'INVALID_ENUM_VALUE', 'invoices'],
    [of('date'), 20240229, 'INVALID_FORMAT', 'YYYY-MM-DD'],
    [of('date'), '2026-02-29', 'INVALID_FORMAT', 'February 2026 has 28 days. Give a calendar date as YYYY-MM-DD.'],
    [of('date'), '2100-02-29', 'INVALID_FORMAT', 'February 2100 has 28 days.'],
    [of('date'), '2024-02-30', 'INVALID_FORMAT', 'February 2024 has 29 days.'],
    [of('date'), '2026-11-31', 'INVALID_FORMAT', 'November has 30 days.'],
    [of('date'), '2026-12-32', 'INVALID_FORMAT', 'December has 31 days.'],
    [of('date'), '2026-13-01', 'INVALID_FORMAT', 'Give a month from 01 to 12. Give'],
    [of('date'), '2026-00-01', 'INVALID_FORMAT', 'Give a month from 01 to 12. Give'],
    [of('timestamp'), '2026-02-29T12:00:00Z', 'INVALID_FORMAT', 'February 2026 has 28 days. Give a date-time such as'],
    [of('string', { format: 'one_line' }), '\u200b \ufeff', 'INVALID_FORMAT', 'nothing visible'],
    [of('timestamp'), 5, 'INVALID_FORMAT', '2026-03-01T15:04:05Z'],
    [of('timestamp'), '2026-03-01', 'INVALID_FORMAT', '2026-03-01T15:04:05Z'],
    [of('timestamp'), '9999-01-01T00:00:00Z', 'OUT_OF_RANGE', 'before 2255-06-05T23:47:34.740991Z'],
    [of('cents'), '1', 'INVALID_FORMAT', 'Give an integer.'],
    [of('cents'), 1.5, 'INVALID_FORMAT', 'Give an integer.'],
    [of('cents'), MOST + 1, 'OUT_OF_RANGE', '±9007199254740991'],
    [of('integer'), 0x80000000, 'OUT_OF_RANGE', '±2147483647'],
    [of('integer'), -0x80000000, 'OUT_OF_RANGE', '±2147483647'],
    [of('number'), '1', 'INVALID_FORMAT', 'Give a number.'],
    [of('number'), Infinity, 'INVALID_FORMAT', 'Give a number.'],
    [of('number', { range: { above: 0 } }), 0, 'OUT_OF_RANGE', 'Give more than 0.'],
    [of('integer', { range: { min: 1, max: 3 } }), 0, 'OUT_OF_RANGE', 'Give a number from 1 to 3.'],
    [of('integer', { range: { min: 1, max: 3 } }), 4, 'OUT_OF_RANGE', 'Give a number from 1 to 3.'],
    [of('integer', { range: { min: 1 } }), 0, 'OUT_OF_RANGE', 'Give at least 1.'],
    [of('integer', { range: { max: 3 } }), 4, 'OUT_OF_RANGE', 'Give at most 3.'],
    [of('boolean'), 'true', 'INVALID_FORMAT', 'Give true or false.'],
    [of('enum', { enum: SIZES }), 'SIZE_SMALL', 'INVALID_ENUM_VALUE', 'Give one of SMALL, LARGE.'],
    [of('enum', { enum: SIZES }), 1, 'INVALID_ENUM_VALUE', 'Give one of SMALL, LARGE.'],
    [of('json'), [], 'INVALID_FORMAT', 'Give a JSON object.'],
    [of('json'), null, 'INVALID_FORMAT', 'Give a JSON object.'],
    [of('json', { range: { maxLength: 6 } }), { a: 1 }, 'TOO_LARGE', 'Shorten it to 6 bytes of UTF-8: it has 7.'],
    [of('json', { range: { maxLength: 9 } }), { a: 'é' }, 'TOO_LARGE', 'Shorten it to 9 bytes of UTF-8: it has 10.'],
  ]),
)('a field of kind %s refuses %j with %s: %s', (_, value, code, text, to) => {
  expect(checkValue(to, value)).toEqual({ code, message: expect.stringContaining(text) });
});

test.each(
  described<[string, unknown]>([
    [of('boolean'), 'true', true],
    [of('boolean'), 'false', false],
    [of('integer'), '-12', -12],
    [of('cents'), String(MOST), MOST],
    [of('number'), '-1.25', -1.25],
    [of('number'), '3', 3],
    [of('string'), 'x', 'x'],
    [of('timestamp'), '1970-01-01T00:00:01+00:00', 1_000_000],
  ]),
)('a field of kind %s reads %j of a query as %j', (_, text, expected, to) => {
  expect(checkText(to, text)).toEqual({ value: expected });
});

test.each(
  described<[string, string, string]>([
    [of('string'), '', 'EMPTY_VALUE', 'Leave the parameter out'],
    [of('boolean'), 'yes', 'INVALID_FORMAT', 'Give true or false.'],
    [of('integer'), '1e3', 'INVALID_FORMAT', 'Give an integer.'],
    [of('integer'), '12345678901234567', 'INVALID_FORMAT', 'Give an integer.'],
    [of('integer', { range: { min: 1 } }), '0', 'OUT_OF_RANGE', 'Give at least 1.'],
    [of('number'), '1.', 'INVALID_FORMAT', 'Give a number.'],
    [of('number', { range: { above: 0 } }), '0', 'OUT_OF_RANGE', 'Give more than 0.'],
    [of('timestamp'), '2026-03-01T15:04:05 0200', 'INVALID_FORMAT', '%2B'],
    [of('timestamp'), '2026-03-01T15:04:05', 'INVALID_FORMAT', '2026-03-01T15:04:05Z'],
  ]),
)('a field of kind %s refuses %j of a query with %s: %s', (_, text, code, said, to) => {
  expect(checkText(to, text)).toEqual({ code, message: expect.stringContaining(said) });
});

test.each<Field['kind']>(['reference', 'object', 'list', 'bytes', 'cursor'])('a %s has no value to check by itself', (kind) => {
  expect(() => checkValue(of(kind), {})).toThrow('f is not a scalar');
});

test.each<[Parameters<typeof formatProblem>[0], string[], string[]]>([
  ['time_zone', ['America/Chicago', 'UTC'], ['america/chicago', 'Mars/Base', '+02:00', '']],
  ['url', ['https://example.com/a?b'], ['/a', 'example.com']],
  ['phone', ['+15125550100', '+12', '+123456789012345'], ['5125550100', '+0125550100', '+1', '+1234567890123456', '+1 512']],
  ['email', ['a@b', 'ä.b+c@example.com'], ['a', 'a@', '@b', 'a@b@c', 'a b@c', 'Ann <a@b>', 'a,b@c', 'a@b\n', 'a@b\u200b']],
  ['color', ['#1F6FEB', '#abcdef'], ['1F6FEB', '#1F6FE', '#1F6FEBA', '#1F6FEG']],
  ['currency', ['USD'], ['usd', 'EUR', 'USDT']],
  ['idempotency_key', ['a-B_9'], ['', 'a b', 'a.b', 'ä']],
  ['one_line', ['Núñez ✓', ''], ['a\nb', 'a\u007f', 'a\u0085', 'a\u2028', 'a\u202e', 'a\u2066', 'a\u2069']],
  ['json_pointer', ['', '/a/0', '/a~0b~1c', '/'], ['a', '/a~', '/a~2']],
  ['search', ['a', '!7', '東', 'ß'], ['', '!?', ' – ', '😀', '\u0301']],
  [
    'any_phone',
    [
      '+15125550100',
      '(512) 555-0100',
      '512.555.0100',
      '030/1234567',
      '+44 (0)20 7946 0958',
      '５１２５５５０１００',
      '001 512 555 0100',
      '5125550100 x4',
      'tel:+15125550100;ext=4',
    ],
    ['', '555010', '1'.repeat(17), 'x5125550100', '+1+5125550100', '5125550100 y4', `5125550100${' '.repeat(55)}`],
  ],
  ['revision', ['0'.repeat(64)], ['0'.repeat(63), '0'.repeat(65), 'F'.repeat(64)]],
])('the format %s takes %j, and nothing of %j', (format, good, bad) => {
  expect(good.map((text) => formatProblem(format, text))).toEqual(good.map(() => undefined));
  expect(bad.filter((text) => formatProblem(format, text) === undefined)).toEqual([]);
});

test.each([' ', '\u00a0', '\u200b \ufeff', '\u0301', '\u200d', '\u3164', '\u2800', '\u{e0020}', '\ufe0f'])(
  'the one line %j, which shows nothing, is refused',
  (text) => {
    expect(checkValue(of('string', { format: 'one_line' }), text)).toMatchObject({
      code: 'INVALID_FORMAT',
      message: expect.stringContaining('nothing visible'),
    });
  },
);

test.each(['a', '·', 'e\u0301', '例え', '😀', '\u200bx', '—', '٣', ''])('the one line %j is a name', (text) => {
  expect(checkValue(of('string', { format: 'one_line' }), text)).toEqual({ value: text });
});

test.each([
  ['2024-02-29', { value: '2024-02-29' }],
  ['2026-2-9', { code: 'INVALID_FORMAT', message: 'Give a calendar date as YYYY-MM-DD.' }],
  ['0000-02-30', { code: 'INVALID_FORMAT', message: 'Give a calendar date as YYYY-MM-DD.' }],
])('of the date %s says %j', (text, expected) => {
  expect(checkValue(of('date'), text)).toEqual(expected);
});
