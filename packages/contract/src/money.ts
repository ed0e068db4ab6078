// Money is an integer number of USD cents within ±(2^53−1).

/** The exact sum of safe integers; undefined where a double does not hold it, for it is never rounded (decisions §2). */
export function sumOfCents(cents: Iterable<number>): number | undefined {
  let sum = 0;
  /** What the sum was whenever it went too far: it may come back. */
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
