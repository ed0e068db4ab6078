// Checks the content filter of an endpoint against the schemas of its event types (decisions §15).
import { checkValue, editDistance, eventTypesOf, type JsonProblem } from '@truckroll/contract';
import { pathsOfType, readValue, type Class, type Path, type Paths } from './paths.ts';

/** Conditions of a filter: each adds to what every event costs. */
const MOST_CONDITIONS = 20;
/** Values of `$in` and `$nin`. */
const MOST_VALUES = 100;

/** Unknown paths of one filter that get a suggestion or the list of known paths, as for parameters of a query. */
const MOST_HINTS = 3;
/** Longest path that gets a suggestion: finding one takes longer the longer the path is. */
const LONGEST_PATH = 100;

const EQUALITY = ['$eq', '$ne', '$in', '$nin'];
const ORDER = ['$gt', '$gte', '$lt', '$lte'];
const OPERATORS: Readonly<Record<Class, readonly string[]>> = {
  ordered: [...EQUALITY, ...ORDER, '$exists'],
  text: [...EQUALITY, '$startsWith', '$exists'],
  plain: [...EQUALITY, '$exists'],
  object: ['$exists'],
};
const ALL = new Set(Object.values(OPERATORS).flat());
const FORM = 'Give an object such as {"status": {"$in": ["BOOKED"]}}, or null for no filter.';

/** Problems of a filter, which is any JSON value, for event types with these paths. */
export function checkFilter(filter: unknown, types: readonly Paths[]): JsonProblem[] {
  if (!isObject(filter)) return [{ field: 'filter', code: 'INVALID_FORMAT', message: FORM }];
  const conditions = Object.entries(filter);
  if (conditions.length > MOST_CONDITIONS) return [{ field: 'filter', code: 'OUT_OF_RANGE', message: `Give conditions on at most ${MOST_CONDITIONS} paths.` }];
  let hints = MOST_HINTS;
  return conditions.flatMap(([path, condition]): JsonProblem[] => {
    const field = `filter.${path}`;
    const paths = types.flatMap((type) => type.get(path) ?? []);
    if (paths.length > 0) return checkCondition(field, condition, paths);
    const message = `The data of the endpoint's event types has no such path.${ownersOf(path) ?? (hints-- > 0 ? hintFor(path, types) : '')}`;
    return [{ field, code: 'UNKNOWN_FIELD', message }];
  });
}

function checkCondition(field: string, condition: unknown, paths: readonly Path[]): JsonProblem[] {
  if (!isObject(condition) || Object.keys(condition).length === 0) {
    const message = `Give an object of operators, such as {"$exists": true}. Of this path: ${operatorsOf(paths).join(', ')}.`;
    return [{ field, code: 'INVALID_FORMAT', message }];
  }
  return Object.entries(condition).flatMap(([operator, value]) => checkOperator(`${field}.${operator}`, operator, value, paths));
}

/** Names the event types whose data has the path; undefined if there are none. */
function ownersOf(path: string): string | undefined {
  const owners = eventTypesOf.subscription.filter(({ type }) => pathsOfType(type).has(path)).map(({ type }) => type);
  return owners.length === 0 ? undefined : ` That of ${owners.join(', ')} has it: subscribe to one of these too, or remove the path.`;
}

function hintFor(path: string, types: readonly Paths[]): string {
  const known = [...new Set(types.flatMap((type) => [...type.keys()]))];
  if (path.length > LONGEST_PATH && known.length > 0) return ` Give one of ${known.join(', ')}.`;
  const meant = path.replace(/^data\./, '');
  const [nearest] = known.map((name) => ({ name, distance: editDistance(meant, name) })).toSorted((a, b) => a.distance - b.distance);
  return nearest === undefined ? '' : ` Did you mean ${nearest.name}?`;
}

function checkOperator(field: string, operator: string, value: unknown, paths: readonly Path[]): JsonProblem[] {
  const allowed = operatorsOf(paths);
  if (!allowed.includes(operator)) {
    const why = ALL.has(operator) ? 'The path takes other operators.' : 'There is no such operator.';
    return [{ field, code: 'UNKNOWN_FIELD', message: `${why} Give one of ${allowed.join(', ')}.` }];
  }
  if (operator === '$exists') return typeof value === 'boolean' ? [] : [{ field, code: 'INVALID_FORMAT', message: 'Give true or false.' }];
  if (operator !== '$in' && operator !== '$nin') return checkOne(field, operator, value, paths);
  if (!Array.isArray(value) || value.length === 0) return [{ field, code: 'INVALID_FORMAT', message: 'Give a list of at least one value.' }];
  if (value.length > MOST_VALUES) return [{ field, code: 'OUT_OF_RANGE', message: `Give at most ${MOST_VALUES}.` }];
  return value.flatMap((each, index) => checkOne(`${field}[${index}]`, operator, each, paths));
}

/** A value is valid if the path can have it in one of the types that allow the operator. */
function checkOne(field: string, operator: string, value: unknown, paths: readonly Path[]): JsonProblem[] {
  if (value === null) return [{ field, code: 'INVALID_FORMAT', message: 'It cannot be null: use $exists.' }];
  const able = paths.filter((path) => OPERATORS[path.class].includes(operator));
  if (able.some((path) => readValue(path.field, value) !== undefined)) return [];
  const refusals = able.map((path) => checkValue(path.field, value)).filter((checked) => 'code' in checked);
  const message = [...new Set(refusals.map((refusal) => refusal.message))].join(' Or: ');
  return [{ field, code: refusals[0]?.code ?? 'INVALID_FORMAT', message }];
}

function operatorsOf(paths: readonly Path[]): string[] {
  return [...new Set(paths.flatMap((path) => OPERATORS[path.class]))];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
