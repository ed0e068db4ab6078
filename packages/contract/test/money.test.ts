import fc from 'fast-check';
import { centsOf, margin, roundedQuotient, sumOfCents } from '../src/index.ts';

test('a sum is exact, or undefined if a double cannot hold it', () => {
  const far = fc.oneof(fc.maxSafeInteger(), fc.constantFrom(Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 1, -1, 0));
  fc.assert(
    fc.property(fc.array(far, { maxLength: 8 }), (cents) => {
      const exact = cents.reduce((sum, value) => sum + BigInt(value), 0n);
      expect(sumOfCents(cents)).toBe(exact <= Number.MAX_SAFE_INTEGER && exact >= Number.MIN_SAFE_INTEGER ? Number(exact) : undefined);
    }),
  );
});

test('an exact sum becomes a number of cents, or undefined if a double cannot hold it', () => {
  const most = BigInt(Number.MAX_SAFE_INTEGER);
  expect([0n, most, -most].map(centsOf)).toEqual([0, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]);
  expect([most + 1n, -most - 1n, 2n ** 80n].map(centsOf)).toEqual([undefined, undefined, undefined]);
});

test('a quotient is the nearest integer, with ties toward positive infinity for all signs', () => {
  const divisor = fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).filter((value) => value !== 0n);
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), divisor, (n, d) => {
      const quotient = roundedQuotient(n, d);
      // -1/2 < quotient - n/d <= 1/2, without dividing.
      const twice = 2n * (quotient * d - n) * (d < 0n ? -1n : 1n);
      const size = d < 0n ? -d : d;
      expect(twice > -size && twice <= size).toBe(true);
    }),
  );
  const examples: [bigint, bigint, bigint][] = [
    [5n, 2n, 3n],
    [-5n, 2n, -2n],
    [5n, -2n, -2n],
    [-5n, -2n, 3n],
    [-1n, 2n, 0n],
    [7n, 3n, 2n],
    [-7n, 3n, -2n],
    [0n, 9n, 0n],
  ];
  for (const [n, d, quotient] of examples) expect(roundedQuotient(n, d)).toBe(quotient);
});

test('a margin has four decimals, the sign of its parts, and is 0 without revenue', () => {
  const examples: [profit: bigint, revenue: bigint, margin: number][] = [
    [1n, 3n, 0.3333],
    [2n, 3n, 0.6667],
    [-1n, 3n, -0.3333],
    [1n, -3n, -0.3333],
    [-5n, -20_000n, 0.0003],
    [5n, 20_000n * 5n, 0.0001],
    [1n, 20_000n, 0.0001],
    [-1n, 20_000n, 0],
    [5n, 0n, 0],
    [-300n, 100n, -3],
    [2n ** 80n, 2n ** 80n, 1],
  ];
  for (const [profit, revenue, of] of examples) expect({ profit, revenue, margin: margin(profit, revenue) + 0 }).toEqual({ profit, revenue, margin: of });
});
