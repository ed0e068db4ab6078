import fc from 'fast-check';
import { FrameDecoder, giveBack } from '../src/driver/frame-decoder.ts';

const MOST = 200_000;

function frame(size: number, fill: number): Buffer {
  const bytes = Buffer.alloc(5 + size, fill);
  bytes[0] = 0;
  bytes.writeUInt32BE(size, 1);
  return bytes;
}

test('messages come out complete and in order, wherever the stream is cut', () => {
  const size = fc.oneof(fc.nat(20), fc.integer({ min: 4000, max: 5000 }), fc.integer({ min: 131_000, max: 132_000 }));
  fc.assert(
    fc.property(fc.array(size, { maxLength: 5 }), fc.array(fc.nat(), { maxLength: 8 }), (sizes, places) => {
      const sent = sizes.map((length, index) => frame(length, index + 1));
      const stream = Buffer.concat(sent);
      const borders = [0, ...places.map((place) => place % (stream.length + 1)), stream.length].sort((a, b) => a - b);
      const decoder = new FrameDecoder(MOST);
      const read = borders.slice(1).flatMap((end, index) => decoder.write(stream.subarray(borders[index], end)));
      expect(read.length).toBe(sent.length);
      expect(read.every((one, index) => one.equals(sent[index] as Buffer))).toBe(true);
    }),
    { numRuns: 50 },
  );
});

test('the memory of an answer is reused only after it is given back', () => {
  const page = (): Buffer => new FrameDecoder(MOST).write(frame(50_000, 1))[0] as Buffer;
  const [first, second] = [page(), page()];
  expect(second.buffer).not.toBe(first.buffer);
  giveBack(first.subarray(5));
  expect(page().buffer).toBe(first.buffer);
  expect(page().buffer).not.toBe(first.buffer);
});

test('memory from the shared pool is not reused for an answer', () => {
  const small = new FrameDecoder(MOST).write(frame(100, 1))[0] as Buffer;
  giveBack(small);
  const page = new FrameDecoder(MOST).write(frame(50_000, 2))[0] as Buffer;
  expect(page.buffer).not.toBe(small.buffer);
});

test('a message may be as large as allowed; a larger one is refused before memory is allocated for it', () => {
  expect(new FrameDecoder(MOST).write(frame(MOST, 1))[0]).toHaveLength(5 + MOST);
  const head = frame(0, 0);
  head.writeUInt32BE(MOST + 1, 1);
  expect(() => new FrameDecoder(MOST).write(head)).toThrow('larger than max');
});
