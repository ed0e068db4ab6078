import { crc32c } from '../src/driver/crc32c.ts';

const ascending = Uint8Array.from({ length: 32 }, (_, index) => index);

test.each<[string, Uint8Array, number]>([
  ['no bytes', new Uint8Array(), 0],
  ['the check value of the algorithm', Buffer.from('123456789'), 0xe3069283],
  // From RFC 3720, appendix B.4.
  ['32 zeros', new Uint8Array(32), 0x8a9136aa],
  ['32 bytes of ones', new Uint8Array(32).fill(0xff), 0x62a8ab43],
  ['32 ascending bytes', ascending, 0x46dd794e],
  ['32 descending bytes', ascending.toReversed(), 0x113fdb5c],
])('computes the known checksum of %s', (_, bytes, expected) => {
  expect(crc32c(bytes)).toBe(expected);
});

function dividedByBits(bytes: Uint8Array): number {
  let rest = 0xffff_ffff;
  for (const byte of bytes) {
    for (let bit = 0; bit < 8; bit++) {
      const odd = (rest ^ (byte >>> bit)) & 1;
      rest = (rest >>> 1) ^ (odd === 1 ? 0x82f63b78 : 0);
    }
  }
  return (rest ^ 0xffff_ffff) >>> 0;
}

test('computes the remainder of a division by the polynomial, for each byte at each place', () => {
  const wrong: string[] = [];
  for (let length = 0; length <= 20; length++) {
    for (let seed = 0; seed < 256; seed++) {
      const bytes = Uint8Array.from({ length }, (_, at) => seed + 37 * at);
      if (crc32c(bytes) !== dividedByBits(bytes)) wrong.push(Buffer.from(bytes).toString('hex'));
    }
  }
  expect(wrong).toEqual([]);
});
