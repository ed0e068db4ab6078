import fc from 'fast-check';
import { sumOfCents } from '../src/index.ts';

test('a sum is the exact one, or none where a double does not hold it', () => {
  const far = fc.oneof(fc.maxSafeInteger(), fc.constantFrom(Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 1, -1, 0));
  fc.assert(fc.property(fc.array(far, { maxLength: 8 }), (cents) => {
    const exact = cents.reduce((sum, value) => sum + BigInt(value), 0n);
    expect(sumOfCents(cents)).toBe(exact <= Number.MAX_SAFE_INTEGER && exact >= Number.MIN_SAFE_INTEGER ? Number(exact) : undefined);
  }));
});
