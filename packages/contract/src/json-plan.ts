// What the JSON writer knows of a message before it sees one: texts that never change, and how much room they take.
import { textOf, type Text } from './json-buffer.ts';
import type { Field, Kind, Shape } from './shape.ts';
import { formatDate } from './time.ts';

/** How keys are spelled: as the contract does, or in lowerCamelCase for `/api/v1`. */
export type KeyStyle = 'snake' | 'camel';

/** `created_at` as `createdAt`. */
export function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Kinds by number, for a switch that jumps. A string whose format allows nothing that JSON must escape is plain. */
export const PLAIN = 0;
export const STRING = 1;
export const MESSAGE = 2;
export const LIST = 3;
export const TIMESTAMP = 4;
export const INTEGER = 5;
export const BOOLEAN = 6;
export const ENUM = 7;
export const NUMBER = 8;
const BYTES = 9;
export const CURSOR = 10;
export const RAW = 11;

export interface FieldPlan {
  readonly index: number;
  readonly kind: number;
  readonly repeated: boolean;
  /** What stands between the value before and this one: `{` or a comma, the key, the colon, `[` for a repeated field. */
  readonly key: Text;
  /** The same with what stands for a field that is not on the wire: null, a proto3 default or []. */
  readonly absent: Text;
  /** `[]` or null: for a list's wrapper that holds nothing. */
  readonly nothing: Text;
  /** Values of enums by number, and false and true. */
  readonly spellings: readonly (Text | undefined)[];
  /** Most bytes that one value takes, strings and messages aside. */
  readonly room: number;
  readonly shape: Shape | undefined;
  /** Of a cursor: the operation that it is for. */
  readonly cursorOf: string | undefined;
  /** Of the field's message. Made when it is first needed: shapes may contain themselves. */
  plan: Plan | undefined;
}

export interface Plan {
  readonly shape: Shape;
  readonly style: KeyStyle;
  readonly fields: readonly FieldPlan[];
  readonly byNumber: readonly (FieldPlan | undefined)[];
  /** Most bytes that an object takes, its strings, messages and repeated values aside. */
  readonly room: number;
}

const KINDS: Record<Kind, number> = {
  uuid: PLAIN,
  date: PLAIN,
  local_date: PLAIN,
  string: STRING,
  reference: MESSAGE,
  object: MESSAGE,
  list: LIST,
  timestamp: TIMESTAMP,
  cents: INTEGER,
  integer: INTEGER,
  boolean: BOOLEAN,
  enum: ENUM,
  number: NUMBER,
  bytes: BYTES,
  cursor: CURSOR,
  json: RAW,
};
const PLAIN_FORMATS = new Set<string | undefined>(['phone', 'color', 'currency', 'revision', 'time_zone']);
const ABSENT: Partial<Record<Kind, string>> = {
  boolean: 'false',
  cents: '0',
  integer: '0',
  number: '0',
  string: '""',
  uuid: '""',
  date: '""',
  timestamp: '"1970-01-01T00:00:00Z"',
};
/** `"2026-03-01T15:04:05.123456Z"`, the longest number, and the quotes of a string are all shorter. */
const SCALAR_ROOM = 40;
/** Texts are copied in whole words. */
const WORD = 8;

const plans: Record<KeyStyle, Map<Shape, Plan>> = { snake: new Map(), camel: new Map() };

/** The plan of a shape; made once. */
export function planOf(shape: Shape, style: KeyStyle): Plan {
  const known = plans[style].get(shape);
  if (known !== undefined) return known;
  const fields = shape.fields.map((field, index) => fieldPlan(field, index, style));
  const byNumber: (FieldPlan | undefined)[] = [];
  shape.fields.forEach((field, index) => (byNumber[field.number] = fields[index]));
  const room = fields.reduce((sum, field) => sum + Math.max(field.key.length + field.room, field.absent.length) + WORD, 2 * WORD);
  const plan = { shape, style, fields, byNumber, room };
  plans[style].set(shape, plan);
  return plan;
}

function fieldPlan(field: Field, index: number, style: KeyStyle): FieldPlan {
  const { kind, repeated, nullable, format, shape } = field;
  const name = style === 'camel' ? camelCase(field.name) : field.name;
  const key = `${index === 0 ? '{' : ','}"${name}":`;
  const nothing = repeated ? '[]' : nullable ? 'null' : (ABSENT[kind] ?? 'null');
  const spellings: (Text | undefined)[] = kind === 'boolean' ? [textOf('false'), textOf('true')] : [];
  for (const [number, spelling] of field.enum?.names ?? []) spellings[number] = textOf(`"${spelling}"`);
  return {
    index,
    kind: kind === 'string' && PLAIN_FORMATS.has(format) ? PLAIN : KINDS[kind],
    repeated,
    key: textOf(repeated ? `${key}[` : key),
    absent: textOf(key + nothing),
    nothing: textOf(nothing),
    spellings,
    room: Math.max(SCALAR_ROOM, ...spellings.flatMap((text) => text?.length ?? [])) + WORD,
    shape,
    cursorOf: field.cursorOf,
    plan: undefined,
  };
}

/** Days whose text is kept, eleven years in a row; a power of two. */
const DAYS_KEPT = 4096;
const days = new Int32Array(DAYS_KEPT).fill(-0x8000_0000);
const dates = new Array<Text>(DAYS_KEPT);

/** `"2026-03-01T`, the beginning of an instant's text, of a count of days since 1970-01-01. */
export function dateText(day: number): Text {
  const slot = day & (DAYS_KEPT - 1);
  if (days[slot] === day) return dates[slot] as Text;
  days[slot] = day;
  return (dates[slot] = textOf(`"${formatDate(day)}T`));
}
