// Finds filters that no event of an endpoint's types can fulfil (decisions §17). A condition counts as possible unless it is certainly not.
import { beyondInstants, formatDate, formatInstant, parseDate, parseInstant, type JsonProblem } from '@truckroll/contract';
import { compileFilter, type EventFilter } from './compile.ts';
import { pathsOfType, type Path } from './paths.ts';

type Operators = EventFilter[string];

/** Values that a field has in events of a type, where they are fewer than the field's own (decisions §6). */
const ONLY: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'service_request.created': { status: ['NEW'] },
  'service_request.status_changed': { status: ['CONTACTED', 'BOOKED', 'SCHEDULED', 'COMPLETED', 'CLOSED', 'CANCELED'] },
  'service_request.booked': { status: ['BOOKED', 'SCHEDULED'] },
  'interaction.completed': { status: ['COMPLETED'] },
};

/** The conditions that make each of the types impossible, if there are such for all of them. Requires a filter that checkFilter accepts. */
export function impossibleConditions(filter: EventFilter, types: readonly string[]): JsonProblem[] {
  const reasons = new Map<string, string[]>();
  for (const type of types) {
    // Not known to this release.
    if (pathsOfType(type).size === 0) return [];
    const found = Object.entries(filter).find(([name, operators]) => !isPossible(type, name, operators));
    if (found === undefined) return [];
    const [name] = found;
    reasons.set(name, [...(reasons.get(name) ?? []), reasonOf(type, name)]);
  }
  return [...reasons].map(([name, all]) => ({
    field: `filter.${name}`,
    code: 'OUT_OF_RANGE',
    message: `No event of the endpoint's types can fulfil this: ${all.join('; ')}. Change the condition or the types.`,
  }));
}

function reasonOf(type: string, name: string): string {
  const only = ONLY[type]?.[name];
  if (only !== undefined) return `in ${type} it is ${only.join(' or ')}`;
  if (!pathsOfType(type).has(name)) return `${type} has no such path`;
  return `in ${type} it has no value for which all operators hold`;
}

function isPossible(type: string, name: string, operators: Operators): boolean {
  const path = pathsOfType(type).get(name);
  const paths = new Map(path === undefined ? [] : [[name, path]]);
  const holds = (given: Operators, data: unknown): boolean => compileFilter({ [name]: given }, paths)(data);
  if ((path === undefined || path.optional) && holds(operators, {})) return true;
  if (path === undefined) return false;
  const domain = ONLY[type]?.[name] ?? domainOf(path);
  if (domain !== undefined) return domain.some((value) => holds(operators, nested(path.keys, value)));
  // Of many values, those that are left out never leave none.
  const { $ne: _ne, $nin: _nin, ...bounds } = operators;
  const given = '$eq' in operators || '$in' in operators ? operators : bounds;
  return candidates(path, operators).some((value) => holds(given, nested(path.keys, value)));
}

function nested(keys: readonly string[], value: unknown): unknown {
  return keys.reduceRight((inner, key) => ({ [key]: inner }), value);
}

/** All values of a path that has few. */
function domainOf({ field, class: group }: Path): readonly unknown[] | undefined {
  if (field.kind === 'boolean') return [true, false];
  if (field.enum !== undefined) return [...field.enum.generated.keys()];
  return group === 'object' ? [{}] : undefined;
}

const ANY: Readonly<Record<string, unknown>> = {
  timestamp: '2026-03-01T00:00:00Z',
  date: '2026-03-01',
  local_date: '2026-03-01',
  uuid: '6d5c0f57-5d0b-4c35-9c02-8f5a3d1e7b64',
  string: 'a text',
};

/** Values of a path that has many: if any fulfils the operators, one of these does. */
function candidates({ field: { kind } }: Path, operators: Operators): unknown[] {
  const given = Object.values(operators).flat();
  // Events have instants within limits only, which a filter may exceed.
  const own = kind === 'timestamp' ? [] : given;
  return [ANY[kind] ?? 0, ...own, ...given.flatMap((value) => neighbours(kind, value)), ...middles(kind, given)];
}

/** The next smaller and larger values, and of an instant also itself. */
function neighbours(kind: string, value: unknown): unknown[] {
  if (typeof value === 'number') return kind === 'number' ? [value - 1, value + 1] : [Math.ceil(value) - 1, Math.floor(value) + 1];
  if (typeof value !== 'string') return [];
  if (kind === 'timestamp') {
    const at = beyondInstants(value) === undefined ? parseInstant(value) : undefined;
    return at === undefined ? [] : [at - 1, at, at + 1].map(formatInstant);
  }
  const day = kind === 'date' || kind === 'local_date' ? parseDate(value) : undefined;
  return day === undefined ? [] : [day - 1, day + 1].map(formatDate);
}

/** Between two fractions there is always another. */
function middles(kind: string, given: readonly unknown[]): number[] {
  const numbers = kind === 'number' ? given.filter((value) => typeof value === 'number') : [];
  return numbers.flatMap((one) => numbers.map((other) => (one + other) / 2));
}
