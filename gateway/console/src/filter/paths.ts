// Paths of events' `data` that a filter can name, and the operators that each takes.

/** A kind of value, or the values of an enum. */
export type Kind = 'uuid' | 'text' | 'time' | 'number' | 'object' | readonly string[];
export type Paths = ReadonlyMap<string, Kind>;

/** JSON that scripts/build-console.mjs takes from the API's description. */
declare const FILTER_PATHS: string;
/** By event type and path. */
const ofTypes = JSON.parse(FILTER_PATHS) as Readonly<Record<string, Readonly<Record<string, Kind>>>>;

/** All paths of events of these types. An enum has the values of all of them. */
export function pathsOf(types: readonly string[]): Paths {
  const paths = new Map<string, Kind>();
  for (const type of types) {
    for (const [path, kind] of Object.entries(ofTypes[type] ?? {})) {
      const known = paths.get(path);
      paths.set(path, isEnum(kind) && known !== undefined && isEnum(known) ? [...new Set([...known, ...kind])] : kind);
    }
  }
  return paths;
}

export const isEnum = (kind: Kind | undefined): kind is readonly string[] => typeof kind === 'object';

/** The API's operators, with `$exists` as two that need no value. */
export type Operator = '$eq' | '$ne' | '$in' | '$nin' | '$gt' | '$gte' | '$lt' | '$lte' | '$startsWith' | 'present' | 'absent';

const EXISTENCE: readonly Operator[] = ['present', 'absent'];
const EQUALITY: readonly Operator[] = ['$eq', '$ne', '$in', '$nin'];
const ORDER: readonly Operator[] = ['$gt', '$gte', '$lt', '$lte'];

export function operatorsOf(kind: Kind): readonly Operator[] {
  if (kind === 'object') return EXISTENCE;
  if (kind === 'time' || kind === 'number') return [...ORDER, ...EQUALITY, ...EXISTENCE];
  return kind === 'text' ? [...EQUALITY, '$startsWith', ...EXISTENCE] : [...EQUALITY, ...EXISTENCE];
}

export const needsNoValue = (operator: string): boolean => operator === 'present' || operator === 'absent';
export const takesList = (operator: string): boolean => operator === '$in' || operator === '$nin';
/** The operator's name in the API. */
export const apiName = (operator: string): string => (needsNoValue(operator) ? '$exists' : operator);

const WORDS: Readonly<Record<Operator, string>> = {
  $eq: 'is',
  $ne: 'is not',
  $in: 'is one of',
  $nin: 'is none of',
  $gt: 'is more than',
  $gte: 'is at least',
  $lt: 'is less than',
  $lte: 'is at most',
  $startsWith: 'begins with',
  present: 'has a value',
  absent: 'has no value',
};
const TIME_WORDS: Readonly<Record<string, string>> = { $gt: 'is after', $gte: 'is at or after', $lt: 'is before', $lte: 'is at or before' };

/** "is one of". An operator of a newer release is shown by its name. */
export function wordsFor(operator: string, kind: Kind | undefined): string {
  return (kind === 'time' ? TIME_WORDS[operator] : undefined) ?? WORDS[operator as Operator] ?? operator;
}
