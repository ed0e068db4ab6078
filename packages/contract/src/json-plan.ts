// Everything about a message type that the JSON writer can prepare in advance: constant texts and maximum sizes.
import { textOf, type Text } from './json-buffer.ts';
import type { Field, Kind, Shape } from './shape.ts';
import { formatDate } from './time.ts';

/** Spelling of keys: as in the contract, or lowerCamelCase for `/api/v1`. */
export type KeyStyle = 'snake' | 'camel';

export function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Kinds as small integers, so that a switch becomes a jump table. PLAIN: a string whose format contains nothing JSON must escape. */
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
  /** Text before the value: `{` or a comma, the key, the colon, and `[` for a repeated field. */
  readonly key: Text;
  /** The same, with the value of a field that is not on the wire: null, a proto3 default or []. */
  readonly absent: Text;
  /** `[]`, null or a default, without the key: written for a list's wrapper that is empty. */
  readonly nothing: Text;
  /** Values of enums by number; of booleans, false and true. */
  readonly spellings: readonly (Text | undefined)[];
  readonly room: number;
  readonly shape: Shape | undefined;
  /** For a cursor: the operation that it belongs to. */
  readonly cursorOf: string | undefined;
  /** Plan of the field's message. Made on first use, because shapes may contain themselves. */
  plan: JsonPlan | undefined;
}

export interface JsonPlan {
  readonly shape: Shape;
  readonly style: KeyStyle;
  readonly fields: readonly FieldPlan[];
  readonly byNumber: readonly (FieldPlan | undefined)[];
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
/** Texts are copied in whole words of this many bytes. */
const WORD = 8;

const plans: Record<KeyStyle, Map<Shape, JsonPlan>> = { snake: new Map(), camel: new Map() };

/** The plan for a message type in one spelling; made on the first call and kept. */
export function planOf(shape: Shape, style: KeyStyle): JsonPlan {
  const known = plans[style].get(shape);
  if (known !== undefined) return known;
  const fields = shape.fields.map((field, index) => fieldPlan(field, index, style));
  const byNumber: (FieldPlan | undefined)[] = [];
  shape.fields.forEach((field, index) => (byNumber[field.number] = fields[index]));
  const room = fields.reduce((sum, field) => sum + field.key.length + field.room, WORD);
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
  field.enum?.names.forEach((spelling, number) => (spellings[number] = textOf(`"${spelling}"`)));
  return {
    index,
    kind: PLAIN_FORMATS.has(format) ? PLAIN : KINDS[kind],
    repeated,
    key: textOf(repeated ? `${key}[` : key),
    absent: textOf(key + nothing),
    nothing: textOf(nothing),
    spellings,
    room: spellings.reduce((most, text) => Math.max(most, text!.length), SCALAR_ROOM) + WORD,
    shape,
    cursorOf: field.cursorOf,
    plan: undefined,
  };
}

/** Number of days whose text is cached, about eleven years; a power of two. */
const DAYS_KEPT = 4096;
const days = new Int32Array(DAYS_KEPT).fill(-0x8000_0000);
const dates = new Array<Text>(DAYS_KEPT);

/** The beginning of a timestamp, `"2026-03-01T`, for a day counted from 1970-01-01. */
export function dateText(day: number): Text {
  const slot = day & (DAYS_KEPT - 1);
  if (days[slot] === day) return dates[slot] as Text;
  days[slot] = day;
  return (dates[slot] = textOf(`"${formatDate(day)}T`));
}
