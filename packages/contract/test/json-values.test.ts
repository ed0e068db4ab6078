import fc from 'fast-check';
import { JsonBuffer, textOf } from '../src/json-buffer.ts';
import { ascii, instant, integer, plain, raw, string, text } from '../src/json-values.ts';
import { formatInstant } from '../src/time.ts';

const BEFORE = 3;
const FILL = 0xaa;

function written(write: (data: DataView, to: number) => number): string {
  const bytes = Buffer.alloc(20_000, FILL);
  const end = write(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), BEFORE);
  expect([...bytes.subarray(0, BEFORE)]).toEqual([FILL, FILL, FILL]);
  return bytes.toString('utf8', BEFORE, end);
}

function source(content: string): { from: DataView; start: number; end: number } {
  const bytes = Buffer.from(`"\\<${content}>"\\`);
  return { from: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), start: 3, end: bytes.length - 3 };
}

const lengths = Array.from({ length: 34 }, (_, length) => length);
const letters = (length: number): string => Array.from({ length }, (_, index) => String.fromCharCode(97 + (index % 26))).join('');

describe('a string', () => {
  const asJson = (content: string): string => {
    const { from, start, end } = source(content);
    return written((data, to) => string(from, start, end, data, to));
  };

  test('has its text between quotes, whatever its length', () => {
    for (const length of lengths) expect(asJson(letters(length))).toBe(`"${letters(length)}"`);
  });

  test('is written as JSON.stringify does, for each ASCII character at each place', () => {
    for (let code = 0; code < 0x80; code++) {
      for (let at = 0; at < 9; at++) {
        const content = `${letters(at)}${String.fromCharCode(code)}${letters(8 - at)}`;
        expect(asJson(content)).toBe(JSON.stringify(content));
      }
    }
  });

  test('is written as JSON.stringify does, whatever it holds', () => {
    const characters = fc.oneof(fc.constantFrom('"', '\\', '\n', '\u0000', '\u001f', ' ', '!', '\u007f', 'é', '₿', '🚚'), fc.string({ unit: 'grapheme' }));
    fc.assert(fc.property(fc.array(characters), (parts) => expect(asJson(parts.join(''))).toBe(JSON.stringify(parts.join('')))));
  });
});

describe('text that needs no escaping', () => {
  test('is copied between quotes, whatever its length', () => {
    for (const length of lengths) {
      const { from, start, end } = source(letters(length));
      expect(written((data, to) => plain(from, start, end, data, to))).toBe(`"${letters(length)}"`);
    }
  });

  test('is copied without quotes if it is raw JSON', () => {
    for (const length of lengths) {
      const { from, start, end } = source(letters(length));
      expect(written((data, to) => raw(from, start, end, data, to))).toBe(letters(length));
    }
  });

  test('is copied from a text prepared before, whatever its length', () => {
    for (const length of lengths) expect(written((data, to) => text(data, to, textOf(letters(length))))).toBe(letters(length));
  });

  test('is written from a string', () => {
    expect(written((data, to) => ascii(data, to, '"UNRECOGNIZED"'))).toBe('"UNRECOGNIZED"');
  });
});

test('copies no further than the text, or the last word of eight bytes of a prepared one', () => {
  for (const length of lengths) {
    const { from, start, end } = source(letters(length));
    const exactly = (size: number): DataView => new DataView(new ArrayBuffer(size));
    expect(raw(from, start, end, exactly(length), 0)).toBe(length);
    expect(ascii(exactly(length), 0, letters(length))).toBe(length);
    expect(text(exactly(Math.ceil(length / 8) * 8), 0, textOf(letters(length)))).toBe(length);
  }
});

describe('an instant', () => {
  test.each([
    '2026-03-01T15:04:05.123456Z',
    '2026-03-01T15:04:05.000001Z',
    '2026-03-01T23:59:59.999999Z',
    '2026-03-01T00:00:00Z',
    '2026-03-01T00:59:00.100000Z',
    '1970-01-01T00:00:00Z',
    '1969-12-31T23:59:59.999999Z',
    '1684-07-28T00:12:25.259010Z',
  ])('%s has six fractional digits or none', (expected) => {
    const micros = Number(BigInt(Date.parse(expected.replace(/\.\d+/, ''))) * 1000n) + Number(/\.(\d+)/.exec(expected)?.[1] ?? 0);
    expect(written((data, to) => instant(data, to, micros))).toBe(`"${expected}"`);
  });

  test('is written as elsewhere in the API', () => {
    fc.assert(
      fc.property(fc.integer({ min: -9e15, max: 9e15 }), (micros) =>
        expect(written((data, to) => instant(data, to, micros))).toBe(`"${formatInstant(micros)}"`),
      ),
    );
  });

  test('has its own date after one that is 4096 days away was written', () => {
    const DAY = 86_400_000_000;
    for (const days of [20_000, 20_000 + 4096, 20_000, 0]) {
      expect(written((data, to) => instant(data, to, days * DAY))).toBe(`"${formatInstant(days * DAY)}"`);
    }
  });
});

describe('an integer', () => {
  const asJson = (value: number): string => written((data, to) => integer(data, to, value));

  test.each([0, 9, 10, 99, 100, 101, 999, 1000, 12_345, 999_999, 1_000_000, 999_999_999, 1_000_000_000, 2_147_483_647, 2_147_483_648])(
    '%d has all its digits',
    (value) => {
      expect(asJson(value)).toBe(String(value));
    },
  );

  test.each([-1, -100, -2_147_483_649, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER])('%d has its sign and all its digits', (value) => {
    expect(asJson(value)).toBe(String(value));
  });
});

describe('a JSON buffer', () => {
  test('holds what was appended, in order, however often it grows', () => {
    const buffer = new JsonBuffer(4);
    for (const part of ['{', '"a":1', `,"b":"${letters(100)}"`, '}']) buffer.ascii(part);
    expect(JSON.parse(buffer.view().toString())).toEqual({ a: 1, b: letters(100) });
  });

  test('makes room for the requested bytes, and shows the same bytes through its DataView', () => {
    const buffer = new JsonBuffer(4);
    buffer.ascii('abc');
    buffer.reserve(100);
    expect(buffer.bytes.length).toBeGreaterThanOrEqual(103);
    expect(buffer.view().toString()).toBe('abc');
    buffer.data.setUint8(0, 0x7a);
    expect(buffer.view().toString()).toBe('zbc');
  });

  test('at least doubles, so that many small pieces do not copy it each time', () => {
    const buffer = new JsonBuffer(1000);
    buffer.length = 1000;
    buffer.reserve(1);
    expect(buffer.bytes.length).toBe(2000);
  });

  test('keeps its memory while there is room', () => {
    const buffer = new JsonBuffer(4);
    const { bytes } = buffer;
    buffer.ascii('abcd');
    expect(buffer.bytes).toBe(bytes);
    buffer.ascii('e');
    expect(buffer.bytes).not.toBe(bytes);
  });

  test('can be used again from its beginning', () => {
    const buffer = new JsonBuffer(4);
    buffer.ascii('abcdef');
    buffer.length = 0;
    buffer.ascii('xy');
    expect(buffer.view().toString()).toBe('xy');
  });
});
