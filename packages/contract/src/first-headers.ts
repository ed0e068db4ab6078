/** Ends the last header of an answer of which the log does not show all. */
const CUT = '… (cut)';
/** Characters that it keeps of that header's name. */
const MOST_NAME = 64;

interface Header {
  readonly name: string;
  readonly value: string;
}

/** The headers whose names and values have about `most` characters together. If there are more, the last one is cut, and ends with a mark. */
export function firstHeaders(headers: readonly Header[], most: number): Header[] {
  let room = most;
  const end = headers.findIndex(({ name, value }) => (room -= name.length + value.length) < 0);
  const last = headers[end];
  if (last === undefined) return [...headers];
  const value = last.value.slice(0, Math.max(0, last.value.length + room));
  return [...headers.slice(0, end), { name: last.name.slice(0, MOST_NAME), value: `${value}${CUT}` }];
}
