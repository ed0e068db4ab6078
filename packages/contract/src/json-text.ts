// Finds problems of a JSON text that its parsed value hides: duplicate keys, integers with a fraction too small for a double, numbers
// too large for one in values of any form, and depth. A cheap check of the whole text runs first; it is walked only if that finds something.
import { camelCase, type KeyStyle } from './json-plan.ts';
import type { JsonProblem } from './json-reader.ts';
import type { Field, Shape } from './shape.ts';

/** Maximum nesting of JSON that comes from outside (decisions §17); far more than any record, body or filter needs. */
const DEEPEST = 32;
export const TOO_DEEP = `Nest no deeper than ${DEEPEST} lists and objects.`;
const TOO_LARGE = 'Give a smaller number: this one is too large for a double.';
const SPACED = /"\s+:/;

/** A number that a double may round: with an exponent, 309 or more digits, a fraction after ten or more digits, or a fraction of almost 0 or 1. */
const DOUBTFUL = /[:,[]\s*-?(?:\d+(?:\.\d*)?[eE]|\d{309}|\d{10,}\.|\d+\.(?:0{6}|9{6}))/;

/** `value` is the result of JSON.parse of the text, which should be a message of that shape. */
export function problemsOfJsonText(shape: Shape, text: string, value: unknown, keys: KeyStyle = 'snake'): JsonProblem[] {
  return mayHideProblems(text, value) ? walk(shape, text, keys) : [];
}

/** Whether a parsed value is nested deeper than JSON from outside may be. Functions that recurse into it could exhaust the stack. */
export function isTooDeep(value: unknown): boolean {
  return Number.isNaN(keysOf(value));
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

/** A token of valid JSON: a string, punctuation, or a number or word. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Where a value is, and what the contract knows of it: the field that it belongs to, and the shape of its objects. */
interface Node {
  readonly path: string;
  readonly field: Field | undefined;
  readonly shape: Shape | undefined;
}

/** An object, with its keys so far, or a list. */
interface Open extends Node {
  readonly keys: Set<string> | undefined;
  elements: number;
}

function walk(root: Shape, text: string, style: KeyStyle): JsonProblem[] {
  const problems: JsonProblem[] = [];
  const refuse = (field: string, message: string, code: JsonProblem['code'] = 'INVALID_FORMAT'): unknown => problems.push({ field, code, message });
  const open: Open[] = [];
  let node: Node = { path: '', field: undefined, shape: root };
  let isKey = false;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') {
      if (open.length === DEEPEST) {
        refuse('(line)', TOO_DEEP);
        break;
      }
      open.push({ ...node, keys: token === '{' ? new Set() : undefined, elements: 0 });
    } else if (token === '}' || token === ']') open.pop();
    else if (isKey) {
      const { path, shape, field: within, keys } = open.at(-1) as Open & { keys: Set<string> };
      const key = JSON.parse(token) as string;
      // The fields of a value of any form are all alike.
      const field = shape === undefined ? within : fieldOf(shape, key, style);
      // A list's wrapper is the array itself in JSON.
      const inner = field?.kind === 'list' ? field.shape!.fields[0] : field;
      node = { path: path === '' ? key : `${path}.${key}`, field: inner, shape: inner?.shape };
      if (keys.has(key)) refuse(node.path, 'Give it once: it is given twice.', 'UNKNOWN_FIELD');
      keys.add(key);
    } else if (losesFraction(node.field, token)) refuse(node.path, 'Give an integer.');
    else if (node.field?.kind === 'json' && Math.abs(Number(token)) === Infinity) refuse(node.path, TOO_LARGE, 'OUT_OF_RANGE');
    isKey = false;
    if (!'{[,'.includes(token)) continue;
    const inside = open.at(-1) as Open;
    if (inside.keys !== undefined) isKey = true;
    else node = { ...inside, path: `${inside.path}[${inside.elements++}]` };
  }
  return problems;
}

function fieldOf({ fields, byName }: Shape, key: string, style: KeyStyle): Field | undefined {
  return style === 'snake' ? byName.get(key) : fields.find(({ name }) => camelCase(name) === key);
}

/** Whether a literal of an integer field is no integer, although its double is. Others have been reported by the reader. */
function losesFraction(field: Field | undefined, literal: string): boolean {
  if (field?.derived !== false || (field.kind !== 'cents' && field.kind !== 'integer')) return false;
  return Number.isSafeInteger(Number(literal)) && !isWhole(literal);
}

/** Whether the literal is exactly an integer; `1.0` and `1e3` are. */
function isWhole(literal: string): boolean {
  const [, integer, fraction = '', exponent = '0'] = /(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?/.exec(literal) as unknown as [string, string, string?, string?];
  const point = integer.length + Number(exponent);
  return /^0*$/.test((integer + fraction).slice(Math.max(0, point)));
}
