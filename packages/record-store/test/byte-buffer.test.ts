import { WireCursor } from '@truckroll/contract';
import fc from 'fast-check';
import { ByteBuffer } from '../src/byte-buffer.ts';

test('returns the bytes that were written, however often the buffer has to grow', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 50 }), (pieces) => {
      const buffer = new ByteBuffer(4);
      for (const piece of pieces) {
        if (piece.length === 1) buffer.byte(piece[0] as number);
        else buffer.append(piece);
      }
      expect(buffer.view()).toEqual(Buffer.concat(pieces));
    }),
  );
});

test('writes lengths that read back correctly, whether before or after what they measure', () => {
  const bytes = fc.uint8Array({ maxLength: 20_000 });
  fc.assert(
    fc.property(bytes, bytes, (first, second) => {
      const buffer = new ByteBuffer(4);
      buffer.byte(1 * 8 + 2);
      buffer.varint(first.length);
      buffer.append(first);
      buffer.byte(2 * 8 + 2);
      const start = buffer.open();
      buffer.append(second);
      buffer.close(start);
      const found: Buffer[] = [];
      for (const cursor = new WireCursor(buffer.view()); cursor.field !== 0; cursor.advance())
        found[cursor.field] = buffer.view().subarray(cursor.body, cursor.end);
      expect([found[1]?.equals(first), found[2]?.equals(second)]).toEqual([true, true]);
    }),
  );
});
