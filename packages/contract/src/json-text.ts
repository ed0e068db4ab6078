// Finds problems of a JSON text that its parsed value hides: duplicate keys, and integers with a fraction too small for a double. A
// cheap check of the whole text runs first; it is walked only if that finds something.
import type { JsonProblem } from './json-reader.ts';
import type { Field, Shape } from './shape.ts';

const BACKSLASH = 0x5c;
/** Maximum nesting; far more than any record needs. */
const DEEPEST = 64;
const SPACED = /"\s+:/;

/** A number that a double may round: with an exponent, a fraction after ten or more digits, or a fraction of almost 0 or 1. */
const DOUBTFUL = /[:,[]\s*-?(?:\d+(?:\.\d*)?[eE]|\d{10,}\.|\d+\.(?:0{6}|9{6}))/;

/** `value` is the result of JSON.parse of the text, which should be a message of that shape in snake case. */
export function problemsOfJsonText(shape: Shape, text: string, value: unknown): JsonProblem[] {
  return mayHideProblems(text, value) ? new Walk(text).problems(shape) : [];
}

/** Whether the text must be walked. Cheap, and false for nearly all texts without problems. */
export function mayHideProblems(text: string, value: unknown): boolean {
  return keysIn(text) !== keysOf(value) || DOUBTFUL.test(text);
}

/** Counts `":`. Too high if a string contains that; NaN if a key is followed by white space, which it cannot count. */
function keysIn(text: string): number {
  if (SPACED.test(text)) return Number.NaN;
  let count = 0;
  for (let at = text.indexOf('":'); at !== -1; at = text.indexOf('":', at + 2)) count++;
  return count;
}

function keysOf(value: unknown, depth = 0): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (depth >= DEEPEST) return Number.NaN;
  let count = 0;
  if (Array.isArray(value)) {
    for (const element of value) count += keysOf(element, depth + 1);
    return count;
  }
  for (const key in value) count += 1 + keysOf((value as Record<string, unknown>)[key], depth + 1);
  return count;
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end + 1;
  }
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

class Walk {
  readonly #text: string;
  readonly #problems: JsonProblem[] = [];
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  problems(shape: Shape): JsonProblem[] {
    this.#value('', undefined, shape);
    return this.#problems;
  }

  /** `field` describes the value and `shape` its object, as far as the contract knows them. */
  #value(path: string, field: Field | undefined, shape: Shape | undefined): void {
    this.#space();
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object(path, shape);
      case '[':
        return this.#array(path, field, shape);
      case '"':
        this.#at = endOfString(this.#text, this.#at);
        return;
      default:
        return this.#literal(path, field);
    }
  }

  #object(path: string, shape: Shape | undefined): void {
    const keys = new Set<string>();
    this.#each('}', () => {
      const start = this.#at;
      this.#at = endOfString(this.#text, start);
      const key = JSON.parse(this.#text.slice(start, this.#at)) as string;
      const at = path === '' ? key : `${path}.${key}`;
      if (keys.has(key)) this.#problems.push({ field: at, code: 'INVALID_FORMAT', message: 'Give it once: its object has this key twice.' });
      keys.add(key);
      this.#space();
      this.#at++;
      const field = shape?.byName.get(key);
      // A list's wrapper is the array itself in JSON.
      const inner = field?.kind === 'list' ? field.shape!.fields[0] : field;
      this.#value(at, inner, inner?.shape);
    });
  }

  #array(path: string, field: Field | undefined, shape: Shape | undefined): void {
    let index = 0;
    this.#each(']', () => this.#value(`${path}[${index++}]`, field, shape));
  }

  #each(end: string, element: () => void): void {
    if (++this.#depth > DEEPEST) {
      this.#problems.push({ field: '(line)', code: 'INVALID_FORMAT', message: `Nest no deeper than ${DEEPEST} lists and objects.` });
      this.#at = this.#text.length;
      return;
    }
    this.#at++;
    this.#space();
    while (this.#at < this.#text.length && this.#text[this.#at] !== end) {
      element();
      this.#space();
      if (this.#text[this.#at] === ',') this.#at++;
      this.#space();
    }
    this.#at++;
    this.#depth--;
  }

  #literal(path: string, field: Field | undefined): void {
    const start = this.#at;
    while (this.#at < this.#text.length && !/[\s,\]}]/.test(this.#text[this.#at] as string)) this.#at++;
    if (field?.derived !== false || (field.kind !== 'cents' && field.kind !== 'integer')) return;
    const literal = this.#text.slice(start, this.#at);
    // A value that is not an integer even as a double has been reported by the reader.
    if (!Number.isSafeInteger(Number(literal)) || isWhole(literal)) return;
    this.#problems.push({ field: path, code: 'INVALID_FORMAT', message: 'Give an integer.' });
  }

  #space(): void {
    while (isSpace(this.#text.charCodeAt(this.#at))) this.#at++;
  }
}

/** Whether the literal is exactly an integer; `1.0` and `1e3` are. */
function isWhole(literal: string): boolean {
  const [, integer, fraction = '', exponent = '0'] = /(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?/.exec(literal) as unknown as [string, string, string?, string?];
  const point = integer.length + Number(exponent);
  return /^0*$/.test((integer + fraction).slice(Math.max(0, point)));
}
