import * as fc from 'fast-check';
import { plus, type Amount } from './amounts.ts';

const most = BigInt(Number.MAX_SAFE_INTEGER);
const amounts = fc.oneof(fc.bigInt({ min: -most, max: most }), fc.bigInt({ min: most - 3n, max: most + 3n }), fc.bigInt());

test('adds amounts exactly however large they are', () => {
  fc.assert(
    fc.property(fc.array(amounts, { minLength: 1 }), (all) => {
      const exact = all.reduce((sum, value) => sum + value);
      expect(BigInt(all.reduce<Amount>(plus, 0))).toBe(exact);
    }),
  );
});
