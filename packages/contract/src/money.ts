// Money is an integer number of USD cents within ±(2^53−1).

/** A sum of cents. Errors: RangeError where a double no longer holds it; it is never rounded (decisions §2). */
export function exactCents(cents: number): number {
  if (!Number.isSafeInteger(cents)) throw new RangeError('a sum of cents is beyond ±(2^53−1)');
  return cents;
}
