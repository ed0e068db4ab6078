/** Whole and exact: a number while that is safe, which is nearly always and much cheaper, otherwise a bigint. */
export type Amount = number | bigint;

/** The same amount, as a number if that is safe. */
function amountOf(value: bigint): Amount {
  const exact = Number(value);
  return Number.isSafeInteger(exact) ? exact : value;
}

export function plus(a: Amount, b: Amount): Amount {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    // Otherwise the sum was rounded.
    if (Number.isSafeInteger(sum)) return sum;
  }
  return amountOf(BigInt(a) + BigInt(b));
}
