// Decides which events the content filter of an endpoint lets through (decisions §15).
import { comparable, readValue, valuesAt, type Comparable, type Path, type Paths } from './paths.ts';

/** Conditions by path; all must hold. */
export type EventFilter = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Whether a filter lets an event with this `data` through. */
export type Matcher = (data: unknown) => boolean;

/** Whether an operator holds for a value that is present. */
type Test = (value: Comparable) => boolean;

interface Condition {
  readonly path: Path;
  /** Whether the condition holds where the path has no value. */
  readonly absent: boolean;
  readonly tests: readonly Test[];
}

/** The operators that hold where there is no value. */
const HOLD_WITHOUT = new Set(['$ne', '$nin']);

/** Compiles a filter that checkFilter accepted, for events of a type with these paths. */
export function compileFilter(filter: EventFilter, paths: Paths): Matcher {
  const conditions: Condition[] = [];
  for (const [name, operators] of Object.entries(filter)) {
    const path = paths.get(name);
    const absent = Object.entries(operators).every(([operator, value]) => HOLD_WITHOUT.has(operator) || (operator === '$exists' && value === false));
    if (path !== undefined) conditions.push({ path, absent, tests: Object.entries(operators).map(([operator, value]) => testOf(path, operator, value)) });
    else if (!absent) return () => false;
  }
  return (data) => {
    for (const condition of conditions) if (!holds(condition, data)) return false;
    return true;
  };
}

/** A list matches if one of its elements fulfils the whole condition. */
function holds(condition: Condition, data: unknown): boolean {
  const { path, absent } = condition;
  let value = data;
  for (const key of path.keys) {
    if (value === undefined || value === null || Array.isArray(value)) break;
    value = (value as Record<string, unknown>)[key];
  }
  if (value === undefined || value === null) return absent;
  if (!Array.isArray(value)) return fulfils(condition, value);
  const values = valuesAt(data, path.keys);
  return values.length === 0 ? absent : values.some((each) => fulfils(condition, each));
}

function fulfils({ path, tests }: Condition, value: unknown): boolean {
  const compared = comparable(path.field, value);
  for (const test of tests) if (!test(compared)) return false;
  return true;
}

function testOf({ field }: Path, operator: string, value: unknown): Test {
  const read = (one: unknown): Comparable | undefined => readValue(field, one);
  switch (operator) {
    case '$exists':
      return () => value === true;
    case '$in':
    case '$nin': {
      const among = new Set((value as unknown[]).map(read));
      return operator === '$in' ? (each) => among.has(each) : (each) => !among.has(each);
    }
    case '$startsWith':
      return (each) => typeof each === 'string' && typeof value === 'string' && each.startsWith(value);
    default:
      return compare(operator, read(value));
  }
}

/** A value that this type's path cannot have, undefined, equals nothing and has no order. */
function compare(operator: string, bound: Comparable | undefined): Test {
  switch (operator) {
    case '$eq':
      return (value) => value === bound;
    case '$ne':
      return (value) => value !== bound;
    case '$gt':
      return (value) => bound !== undefined && value > bound;
    case '$gte':
      return (value) => bound !== undefined && value >= bound;
    case '$lt':
      return (value) => bound !== undefined && value < bound;
    default:
      return (value) => bound !== undefined && value <= bound;
  }
}
