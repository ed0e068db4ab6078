// Money is an integer number of USD cents within ±(2^53−1).

/** The exact sum of safe integers; undefined if it is not a safe integer, since sums are never rounded (decisions §2). */
export function sumOfCents(cents: Iterable<number>): number | undefined {
  let sum = 0;
  /** The part of the sum that left the safe range; later values may bring the total back. */
  let carried = 0n;
  for (const value of cents) {
    const next = sum + value;
    if (Number.isSafeInteger(next)) {
      sum = next;
    } else {
      carried += BigInt(sum) + BigInt(value);
      sum = 0;
    }
  }
  const whole = carried === 0n ? sum : Number(carried + BigInt(sum));
  return Number.isSafeInteger(whole) ? whole : undefined;
}

/** An exact sum as a number; undefined if it is not a safe integer. */
export function centsOf(sum: bigint): number | undefined {
  const cents = Number(sum);
  return Number.isSafeInteger(cents) ? cents : undefined;
}

/** numerator ÷ denominator to the nearest integer, ties toward positive infinity; the denominator must not be 0. */
export function roundedQuotient(numerator: bigint, denominator: bigint): bigint {
  const [n, d] = denominator < 0n ? [-numerator, -denominator] : [numerator, denominator];
  const doubled = 2n * n + d;
  const quotient = doubled / (2n * d);
  return doubled < 0n && quotient * 2n * d !== doubled ? quotient - 1n : quotient;
}

/** profit ÷ revenue to four decimals, ties toward positive infinity, and 0 when revenue is 0 (decisions §2, §13). */
export function margin(profit: bigint, revenue: bigint): number {
  return revenue === 0n ? 0 : Number(roundedQuotient(profit * 10_000n, revenue)) / 10_000;
}
