import type { Message } from 'kafkajs';
import { crc32c } from '../src/driver/crc32c.ts';
import { RecordWriter, isPlain } from '../src/driver/record-batch-writer.ts';

const { spyOn } = jest;
beforeAll(() => void spyOn(Buffer, 'allocUnsafe').mockImplementation((size) => Buffer.alloc(size, 0xff)));
afterAll(() => void spyOn(Buffer, 'allocUnsafe').mockRestore());

const SEQUENCE = { producerId: 71_000n, producerEpoch: 3, firstSequence: 17 };
const NOW = 1_790_000_000_000;

function batchOf(messages: readonly Message[], size = 1000): Buffer {
  const writer = new RecordWriter(size);
  writer.batch(messages, SEQUENCE, NOW);
  return writer.bytes.subarray(0, writer.length);
}

function recordsOf(batch: Buffer): object[] {
  let at = 65;
  const number = (): number => {
    let value = 0;
    let shift = 0;
    for (; batch[at]! >= 0x80; shift += 7) value += (batch[at++]! & 0x7f) * 2 ** shift;
    value += batch[at++]! * 2 ** shift;
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  };
  const bytes = (): string | null => {
    const size = number();
    if (size < 0) return null;
    at += size;
    return batch.toString('utf8', at - size, at);
  };
  const records: object[] = [];
  while (at < batch.length) {
    const size = number();
    const end = at + size;
    expect([batch[at++], batch[at++]]).toEqual([0, 0]);
    expect(number()).toBe(records.length);
    const [key, value] = [bytes(), bytes()];
    const headers = Object.fromEntries(Array.from({ length: number() }, () => [bytes(), bytes()]));
    expect(at).toBe(end);
    records.push({ key, value, headers });
  }
  return records;
}

const hex = (bytes: Buffer): string => bytes.toString('hex').match(/../g)!.join(' ');
const letters = (length: number): string => 'abcdefghij'.repeat(Math.ceil(length / 10)).slice(0, length);

describe('a batch', () => {
  test('has the bytes that Kafka documents', () => {
    const batch = batchOf([{ key: 'k', value: 'va', headers: { h: 'x' } }, { value: null }]);
    expect(hex(batch)).toBe(
      [
        '00 00 00 52', // bytes from here
        '00 00 00 00 00 00 00 00', // first offset
        '00 00 00 46', // bytes from here
        '00 00 00 00', // leader epoch
        '02', // magic
        hex(batch.subarray(21, 25)), // checksum
        '00 00', // attributes
        '00 00 00 01', // last offset
        '00 00 01 a0 c4 50 6c 00', // first timestamp
        '00 00 01 a0 c4 50 6c 00', // last timestamp
        '00 00 00 00 00 01 15 58', // producer id
        '00 03', // producer epoch
        '00 00 00 11', // first sequence
        '00 00 00 02', // records
        '1a 00 00 00 02 6b 04 76 61 02 02 68 02 78', // 13 bytes, no attributes, no delta, offset 0, key, value, a header
        '0c 00 00 02 01 01 00', // 6 bytes, no attributes, no delta, offset 1, null, null, no headers
      ].join(' '),
    );
    expect(batch.readUInt32BE(21)).toBe(crc32c(batch.subarray(25)));
  });

  test('is the same whatever was written before it', () => {
    const messages = [{ key: 'k', value: letters(9000) }];
    const writer = new RecordWriter(16);
    writer.text16('before');
    writer.batch(messages, SEQUENCE, NOW);
    writer.batch([], SEQUENCE, NOW);
    const [first, empty] = [batchOf(messages), batchOf([])];
    expect(writer.bytes.subarray(8, writer.length).equals(Buffer.concat([first, empty]))).toBe(true);
    expect(empty).toHaveLength(65);
    expect(empty.readInt32BE(27)).toBe(-1);
  });

  test('holds its messages, whatever the first size of its buffer', () => {
    const messages = [
      { key: 'a', value: letters(100), headers: { [letters(70)]: letters(80), ü: 'é' } },
      { key: Buffer.from('b'), value: Buffer.from(letters(10_000)), headers: { '': '' } },
      { key: null, value: null, headers: {} },
      { key: letters(63), value: null, headers: { [letters(62)]: letters(61), [letters(60)]: '' } },
    ];
    const expected = batchOf(messages, 100_000);
    for (let size = 1; size < 500; size++) expect(batchOf(messages, size).equals(expected)).toBe(true);
    expect(recordsOf(batchOf(messages))).toEqual([messages[0], { key: 'b', value: letters(10_000), headers: { '': '' } }, messages[2], messages[3]]);
  });
});

describe('a buffer', () => {
  test('of any first size holds a batch without records', () => {
    for (let size = 1; size < 70; size++) expect(batchOf([], size)).toHaveLength(65);
  });

  test('grows for the third byte of the length of a record that fills it', () => {
    const message = { key: 'k', value: null, headers: { h: Buffer.from(letters(9000)) } };
    const expected = batchOf([message], 20_000);
    for (let size = expected.length - 5; size <= expected.length; size++) expect(batchOf([message], size).equals(expected)).toBe(true);
  });

  test('doubles when it is full, not before', () => {
    const writer = new RecordWriter(100);
    const { bytes } = writer;
    for (let written = 0; written < 50; written++) writer.int16(written);
    expect(writer.bytes).toBe(bytes);
    writer.int16(50);
    expect(writer.bytes).toHaveLength(200);
    expect(Array.from({ length: 51 }, (_, index) => writer.bytes.readInt16BE(index * 2))).toEqual(Array.from({ length: 51 }, (_, index) => index));
  });
});

describe('a record', () => {
  // The length of a text takes another byte from 64 and from 8192 bytes on, as does that of its record, which is 6 to 8 bytes longer.
  test.each([0, 1, 57, 58, 62, 63, 64, 65, 127, 128, 8181, 8182, 8183, 8184, 8185, 8191, 8192, 20_000, 1_048_567, 1_048_576])(
    'holds a text, and bytes, of %i bytes',
    (length) => {
      const text = letters(length);
      expect(recordsOf(batchOf([{ key: text, value: null }]))).toEqual([{ key: text, value: null, headers: {} }]);
      expect(recordsOf(batchOf([{ key: null, value: Buffer.from(text) }, { value: 'next' }]))).toEqual([
        { key: null, value: text, headers: {} },
        { key: null, value: 'next', headers: {} },
      ]);
    },
  );

  test.each(['é', `${'a'.repeat(61)}é`, 'é'.repeat(31), 'é'.repeat(32), 'é'.repeat(63), 'é'.repeat(64), 'a🚚b', '\u007f', '\u0080', `a${'₿'.repeat(40)}`])(
    'holds %j in UTF-8',
    (text) => {
      expect(recordsOf(batchOf([{ key: text, value: text, headers: { [text]: text } }]))).toEqual([{ key: text, value: text, headers: { [text]: text } }]);
    },
  );

  test('has its number in the batch', () => {
    const messages = Array.from({ length: 200 }, (_, index) => ({ key: String(index), value: null, headers: {} }));
    const batch = batchOf(messages);
    expect(recordsOf(batch)).toEqual(messages);
    expect([batch.readInt32BE(27), batch.readInt32BE(61)]).toEqual([199, 200]);
  });

  test('has no bytes beyond its end', () => {
    expect(batchOf([{ key: 'k', value: letters(10_000) }], 1)).toHaveLength(65 + 3 + 3 + 2 + 3 + 10_000 + 1);
  });
});

test('writes numbers, and texts with their length, null as -1', () => {
  for (const size of [1, 2, 3, 100]) {
    const writer = new RecordWriter(size);
    writer.int16(-2);
    writer.int32(0x01020304);
    writer.text16('zwölf');
    writer.text16('');
    writer.text16(null);
    writer.int16(7);
    expect(hex(writer.bytes.subarray(0, writer.length))).toBe('ff fe 01 02 03 04 00 06 7a 77 c3 b6 6c 66 00 00 ff ff 00 07');
  }
});

describe('a message', () => {
  test.each<[string, Message]>([
    ['a text', { key: 'k', value: 'v' }],
    ['bytes', { key: Buffer.from('k'), value: Buffer.from('v') }],
    ['nothing', { key: null, value: null }],
    ['no key', { value: null }],
    ['headers of single values', { value: 'v', headers: { a: 'b', c: Buffer.from('d'), e: undefined } }],
  ])('is plain with %s', (_, message) => {
    expect(isPlain(message)).toBe(true);
  });

  test.each<[string, Message]>([
    ['a timestamp', { value: 'v', timestamp: '0' }],
    ['a header of several values', { value: 'v', headers: { a: 'b', c: ['d', 'e'] } }],
    ['a key of another kind', { key: 5 as never, value: 'v' }],
    ['a value of another kind', { key: 'k', value: {} as never }],
    ['bytes that are no Buffer', { key: 'k', value: new Uint8Array(3) as never }],
  ])('is not plain with %s', (_, message) => {
    expect(isPlain(message)).toBe(false);
  });
});
