import * as fc from 'fast-check';
import { amountOf, less, plus } from './fact.ts';

const most = BigInt(Number.MAX_SAFE_INTEGER);
const amounts = fc.oneof(fc.bigInt({ min: -most, max: most }), fc.bigInt({ min: most - 3n, max: most + 3n }), fc.bigInt());

test('adds and subtracts amounts exactly however large they are, and represents equal amounts by the same value', () => {
  fc.assert(
    fc.property(fc.array(amounts, { minLength: 1 }), (all) => {
      const exact = all.reduce((sum, value) => sum + value);
      const added = all.map(amountOf).reduce(plus);
      expect(BigInt(added)).toBe(exact);
      expect(added === amountOf(exact)).toBe(true);
      expect(added === amountOf(String(exact))).toBe(true);
      expect(all.map(amountOf).reduce(less, added) === 0).toBe(true);
    }),
  );
});
