import { parseInstant } from '@truckroll/contract';
import fc from 'fast-check';
import { decodePosition, encodePosition } from '../src/position.ts';

function timestamptz(micros: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(micros) - 946_684_800_000_000n);
  return bytes;
}
const uuid = (text: string): Buffer => Buffer.from(text.replaceAll('-', ''), 'hex');

test('reads a position back to the microsecond, before 1970 as well as after 2000', () => {
  const micros = fc
    .integer({ min: Date.UTC(1900, 0, 1), max: Date.UTC(2100, 0, 1) })
    .chain((ms) => fc.integer({ min: 0, max: 999 }).map((rest) => ms * 1000 + rest));
  fc.assert(
    fc.property(micros, fc.uuid(), (at, id) => {
      const [instant, ...rest] = decodePosition(encodePosition([timestamptz(at), uuid(id)], 'uuid'), 2);
      expect([parseInstant(instant as string), ...rest]).toEqual([at, id]);
    }),
  );
});

test('resumes a list ordered by id after the id alone, which may contain colons', () => {
  expect(decodePosition(encodePosition([Buffer.from('JOB:CLASS_SALES')], 'text'), 1)).toEqual(['JOB:CLASS_SALES']);
  const id = '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';
  expect(decodePosition(encodePosition([uuid(id)], 'uuid'), 1)).toEqual([id]);
});
