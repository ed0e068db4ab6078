// Strict conversion of JSON to generated messages, for import lines and request bodies. Reports all problems and throws none.
import { camelCase, type KeyStyle } from './json-plan.ts';
import type { DetailCode, ErrorCode } from './errors.ts';
import { checkValue } from './scalar.ts';
import type { Field, Shape } from './shape.ts';
import { beyondInstants } from './time.ts';

/** `field` is the path, such as `line_items[2].subtotal_cents`. */
export interface JsonProblem {
  field: string;
  code: DetailCode | ErrorCode;
  message: string;
}

/** Derived fields are ignored and left at their defaults (decisions §10); unknown keys are refused; a missing nullable field is null. */
export function readMessage<T>(shape: Shape, json: unknown, keys: KeyStyle = 'snake'): { value: T; problems: JsonProblem[] } {
  const problems: JsonProblem[] = [];
  const value = readObject(shape, json, '', keys, problems);
  return { value: value as T, problems };
}

interface FieldContext {
  /** Path of the object; empty for the root. */
  at: string;
  /** Name of the field, with the index in a list. */
  name: string;
  keys: KeyStyle;
  problems: JsonProblem[];
}

const join = (at: string, name: string): string => (at === '' ? name : `${at}.${name}`);
const pathOf = ({ at, name }: FieldContext): string => join(at, name);

function readObject(shape: Shape, json: unknown, at: string, keys: KeyStyle, problems: JsonProblem[]): Record<string, unknown> {
  const message: Record<string, unknown> = {};
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    problems.push({ field: at || '(root)', code: 'INVALID_FORMAT', message: 'Give a JSON object.' });
    return message;
  }
  const given = json as Record<string, unknown>;
  const spelled = (field: Field): string => (keys === 'camel' ? camelCase(field.name) : field.name);
  let known = 0;
  for (const field of shape.fields) {
    const name = spelled(field);
    const has = Object.hasOwn(given, name);
    if (has) known += 1;
    message[field.name] = field.derived ? defaultOf(field) : readField(field, has ? given[name] : undefined, { at, name, keys, problems });
  }
  const names = Object.keys(given);
  if (names.length > known) refuseUnknown(names, shape.fields.map(spelled), at, problems);
  return message;
}

function refuseUnknown(names: readonly string[], known: readonly string[], at: string, problems: JsonProblem[]): void {
  const message = `Remove it, or spell it as one of ${known.join(', ')}.`;
  for (const name of names) {
    if (!known.includes(name)) problems.push({ field: join(at, name), code: 'UNKNOWN_FIELD', message });
  }
}

function readField(field: Field, value: unknown, context: FieldContext): unknown {
  const { problems } = context;
  if (field.repeated) return readList(field, value, context);
  if (value === undefined || value === null) {
    if (value === null && field.nullClears === true) return zeroOf(field);
    if (!field.nullable && !field.dispensable) {
      problems.push({ field: pathOf(context), code: 'MISSING', message: value === null ? 'It cannot be null: give a value.' : 'Give a value.' });
    } else if (value === null && !field.nullable) {
      problems.push({ field: pathOf(context), code: 'INVALID_FORMAT', message: 'It cannot be null: give a value, or leave it out.' });
    }
    return defaultOf(field);
  }
  if (field.kind === 'list') {
    const [values] = (field.shape as Shape).fields;
    return { values: readList(values as Field, value, context) };
  }
  return readOne(field, value, context);
}

function readList(field: Field, value: unknown, context: FieldContext): unknown[] {
  const { name, problems } = context;
  const { minItems, maxItems } = field.range ?? {};
  if (!Array.isArray(value)) {
    const missing = value === undefined || value === null;
    const message = minItems === undefined ? 'Give a list, [] when there is none.' : `Give a list of at least ${minItems}.`;
    problems.push({ field: pathOf(context), code: missing ? 'MISSING' : 'INVALID_FORMAT', message });
    return [];
  }
  if (minItems !== undefined && value.length < minItems) {
    problems.push({ field: pathOf(context), code: 'OUT_OF_RANGE', message: `Give at least ${minItems}.` });
  }
  if (maxItems !== undefined && value.length > maxItems) {
    problems.push({ field: pathOf(context), code: 'OUT_OF_RANGE', message: `Give at most ${maxItems}.` });
  }
  return value.map((element, index) => readOne(field, element, { ...context, name: `${name}[${index}]` }));
}

function readOne(field: Field, value: unknown, context: FieldContext): unknown {
  if (field.shape !== undefined) return readObject(field.shape, value, pathOf(context), context.keys, context.problems);
  if (field.endless && typeof value === 'string' && beyondInstants(value) === 'after') return field.nullClears === true ? zeroOf(field) : null;
  const checked = checkValue(field, value);
  // Messages hold null as zero.
  const clears = 'value' in checked && field.nullClears === true && checked.value === zeroOf(field);
  if ('value' in checked && !clears) return checked.value;
  const problem = 'value' in checked ? ({ code: 'OUT_OF_RANGE', message: 'Give null to remove it, or another value.' } as const) : checked;
  context.problems.push({ field: pathOf(context), code: problem.code, message: problem.message });
  return defaultOf(field);
}

const DEFAULTS: Partial<Record<Field['kind'], unknown>> = {
  boolean: false,
  cents: 0,
  integer: 0,
  number: 0,
  timestamp: 0,
};

function defaultOf(field: Field): unknown {
  if (field.repeated) return [];
  if (field.nullable) return null;
  if (field.shape !== undefined) return undefined;
  return zeroOf(field);
}

/** The zero value of a scalar in a generated message. */
export function zeroOf(field: Field): unknown {
  return field.enum?.zero ?? DEFAULTS[field.kind] ?? '';
}
