// Money is an integer number of USD cents within ±(2^53−1).

/** The exact sum of safe integers; undefined if it is not a safe integer, since sums are never rounded (decisions §2). */
export function sumOfCents(cents: readonly number[]): number | undefined {
  return centsOf(cents.reduce((sum, value) => sum + BigInt(value), 0n));
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
