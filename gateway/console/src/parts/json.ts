// Parses JSON for display: names, strings and numbers keep their exact text, so that digits and duplicate names stay visible.

export type Json =
  | { readonly kind: 'string' | 'number' | 'literal'; readonly text: string }
  | { readonly kind: 'object' | 'array'; readonly members: readonly Member[] };

export interface Member {
  /** Including its quotes; undefined in an array. */
  readonly name: string | undefined;
  readonly value: Json;
}

/** Deeper or longer JSON is shown as plain text, because browsers are slow to lay out more. */
const MOST_DEPTH = 40;
const MOST_TOKENS = 20_000;

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}:,]|[^\s"[\]{}:,]+/gs;

/** The object or array in the text; undefined if it is something else, invalid, or too large. */
export function readJson(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const open: { kind: 'object' | 'array'; members: Member[] }[] = [];
  let name: string | undefined;
  let count = 0;
  const put = (value: Json): void => {
    open.at(-1)?.members.push({ name, value });
    name = undefined;
  };
  let last: Json | undefined;
  for (const [token] of text.matchAll(TOKEN)) {
    if (++count > MOST_TOKENS) return undefined;
    if (token === '{' || token === '[') {
      if (open.length === MOST_DEPTH) return undefined;
      const made = { kind: token === '{' ? ('object' as const) : ('array' as const), members: [] };
      put(made);
      open.push(made);
    } else if (token === '}' || token === ']') last = open.pop();
    else if (token === ':' || token === ',') continue;
    else if (token.startsWith('"') && open.at(-1)?.kind === 'object' && name === undefined) name = token;
    else put({ kind: token.startsWith('"') ? 'string' : /^[-\d]/.test(token) ? 'number' : 'literal', text: token });
  }
  return last;
}
