// Paths of events' `data` that filters can name (decisions §15), and how their values are read and compared.
import { BEYOND, beyondInstants, eventTypesOf, formatInstant, isDate, isUuid, parseInstant, type Field, type Shape } from '@truckroll/contract';

/** A value in the form in which it is compared: ids are in lower case, and instants are sortable texts. */
export type Comparable = string | number | boolean;

/** Groups of kinds that allow the same operators. Objects and lists of objects only exist or do not. */
export type Class = 'ordered' | 'text' | 'plain' | 'object';

export interface Path {
  /** Keys from `data` to the value. */
  readonly keys: readonly string[];
  readonly field: Field;
  readonly class: Class;
  /** Whether an event may have no value there, because the path or one above it is null or an empty list. */
  readonly optional: boolean;
}

const CLASSES: Partial<Record<Field['kind'], Class>> = {
  timestamp: 'ordered',
  date: 'ordered',
  local_date: 'ordered',
  cents: 'ordered',
  integer: 'ordered',
  number: 'ordered',
  string: 'text',
  uuid: 'plain',
  enum: 'plain',
  boolean: 'plain',
  reference: 'object',
  object: 'object',
  list: 'object',
};

/** By their spelling in a filter, `business_unit.id`. */
export type Paths = ReadonlyMap<string, Path>;

/** All paths of a record. */
export function pathsOf(shape: Shape, keys: readonly string[] = [], within = false): Paths {
  const paths = new Map<string, Path>();
  for (const field of shape.fields) {
    const own = [...keys, field.name];
    const wrapped = field.kind === 'list' ? field.shape?.fields[0] : undefined;
    const { kind, shape: inner } = wrapped ?? field;
    const found = CLASSES[kind];
    if (found === undefined) continue;
    const optional = within || field.nullable || field.repeated || wrapped !== undefined;
    paths.set(own.join('.'), { keys: own, field: wrapped ?? field, class: found, optional });
    if (inner !== undefined) for (const [name, path] of pathsOf(inner, own, optional)) paths.set(name, path);
  }
  return paths;
}

const ofTypes = new Map(eventTypesOf.subscription.map(({ type, body }) => [type, pathsOf(body.byName.get('data')?.shape as Shape)]));
const NONE: Paths = new Map();

/** The paths of an event type; none for a type that this release does not know. */
export function pathsOfType(type: string): Paths {
  return ofTypes.get(type) ?? NONE;
}

/** A value of a filter in the form in which it is compared; undefined if the field cannot have it. */
export function readValue({ kind, enum: names }: Field, value: unknown): Comparable | undefined {
  if (kind === 'boolean') return typeof value === 'boolean' ? value : undefined;
  if (kind === 'cents' || kind === 'integer' || kind === 'number') return typeof value === 'number' ? value : undefined;
  if (typeof value !== 'string') return undefined;
  if (kind === 'timestamp') return readInstant(value);
  if (kind === 'uuid') return isUuid(value) ? value.toLowerCase() : undefined;
  if (kind === 'enum') return names?.generated.has(value) === true ? value : undefined;
  return kind === 'string' || isDate(value) ? value : undefined;
}

/** An instant beyond those that records can have is later or earlier than all of them. */
function readInstant(text: string): string | undefined {
  const side = beyondInstants(text);
  const micros = side === undefined ? parseInstant(text) : BEYOND[side];
  return micros === undefined ? undefined : sortable(formatInstant(micros));
}

/** Without its Z, an instant of formatInstant sorts by time: its fraction has six digits or is left out. */
function sortable(instant: string): string {
  return instant.slice(0, -1);
}

const CANONICAL_LENGTHS = new Set(['2026-03-01T15:04:05Z'.length, '2026-03-01T15:04:05.123456Z'.length]);

/** The value of an event in the form in which it is compared. It was written from a record, so only date-times need work. */
export function comparable({ kind }: Field, value: unknown): Comparable {
  if (kind !== 'timestamp' || typeof value !== 'string') return value as Comparable;
  return CANONICAL_LENGTHS.has(value.length) && value.endsWith('Z') ? sortable(value) : (readInstant(value) ?? value);
}

/** The values at a path, without nulls: none if the path is missing, null, or an empty list. */
export function valuesAt(data: unknown, keys: readonly string[], from = 0): unknown[] {
  if (data === undefined || data === null) return [];
  if (Array.isArray(data)) return data.flatMap((each) => valuesAt(each, keys, from));
  if (from === keys.length) return [data];
  return valuesAt((data as Record<string, unknown>)[keys[from] as string], keys, from + 1);
}
