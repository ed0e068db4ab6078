/** One `name=value` of a query string; `value` is undefined if its percent-encoding is invalid. */
export interface QueryPair {
  name: string;
  value: string | undefined;
}

/** Splits a query string (without `?`) in form encoding: `+` is a space. Empty pieces between `&` are skipped. */
export function splitQuery(text: string): QueryPair[] {
  const pairs: QueryPair[] = [];
  for (const piece of text.split('&')) {
    if (piece === '') continue;
    const equals = piece.indexOf('=');
    const rawName = equals < 0 ? piece : piece.slice(0, equals);
    const name = decode(rawName);
    const value = equals < 0 ? '' : decode(piece.slice(equals + 1));
    pairs.push(name === undefined ? { name: rawName, value: undefined } : { name, value });
  }
  return pairs;
}

function decode(text: string): string | undefined {
  const spaced = text.replaceAll('+', ' ');
  // Decoding takes ten times as long, and most names and values have nothing to decode.
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return undefined;
  }
}
