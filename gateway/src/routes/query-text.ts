/** One `name=value` of a query string; `value` is undefined if its percent-encoding is invalid. */
export interface QueryPair {
  name: string;
  value: string | undefined;
}

/** Splits a query string (without `?`) in form encoding: `+` is a space. Empty pieces between `&` are skipped. */
export function splitQuery(text: string): QueryPair[] {
  const pairs: QueryPair[] = [];
  let start = 0;
  while (start < text.length) {
    let end = text.indexOf('&', start);
    if (end < 0) end = text.length;
    if (end > start) {
      const equals = text.indexOf('=', start);
      const split = equals < 0 || equals > end ? end : equals;
      const rawName = text.slice(start, split);
      const name = decode(rawName);
      const value = decode(text.slice(split + 1, end));
      pairs.push(name === undefined ? { name: rawName, value: undefined } : { name, value });
    }
    start = end + 1;
  }
  return pairs;
}

function decode(text: string): string | undefined {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return undefined;
  }
}
