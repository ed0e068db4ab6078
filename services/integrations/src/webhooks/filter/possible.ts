// Finds filters that no event of an endpoint's types can fulfil (decisions §17). A condition counts as possible unless it is certainly not.
import { beyondInstants, formatDate, formatInstant, parseDate, parseInstant, type JsonProblem } from '@truckroll/contract';
import { compileFilter, type EventFilter } from './compile.ts';
import { pathsOfType, type Path } from './paths.ts';

type Operators = EventFilter[string];

/** Values that a field has in events of a type, where they are fewer than the field's own (decisions §6). None: the field is always null. */
const ONLY: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'service_request.created': { status: ['NEW'], booked_at: [], job_id: [], appointment_id: [], closed_reason: [] },
  'service_request.status_changed': { status: ['CONTACTED', 'BOOKED', 'SCHEDULED', 'COMPLETED', 'CLOSED', 'CANCELED'] },
  'service_request.booked': { status: ['BOOKED', 'SCHEDULED'], closed_reason: [] },
  'interaction.completed': { status: ['COMPLETED'] },
};

/**
 * The conditions because of which no event of the types passes: those that none of the types can fulfil, and others of which each type has
 * one that it cannot fulfil. Requires a filter that checkFilter accepts.
 */
export function impossibleConditions(filter: EventFilter, types: readonly string[]): JsonProblem[] {
  // Nothing is known of a type of a newer release.
  if (types.some((type) => pathsOfType(type).size === 0)) return [];
  const conditions = Object.entries(filter);
  const impossible = types.map((type) => conditions.filter(([name, operators]) => !isPossible(type, name, operators)).map(([name]) => name));
  const [first = []] = impossible;
  const never = first.filter((name) => impossible.every((names) => names.includes(name)));
  const others = impossible.map((names) => names.filter((name) => !never.includes(name)));
  const found = new Set([...never, ...(others.every((names) => names.length > 0) ? others.flat() : [])]);
  return [...found].map((name) => {
    const reasons = types.filter((_, index) => impossible[index]?.includes(name)).map((type) => reasonOf(type, name));
    const message = `No event of the endpoint's types can fulfil this: ${reasons.join('; ')}. Change the condition or the types.`;
    return { field: `filter.${name}`, code: 'OUT_OF_RANGE', message };
  });
}

function reasonOf(type: string, name: string): string {
  const only = ONLY[type]?.[name];
  if (only !== undefined) return `in ${type} it is ${only.length === 0 ? 'always null' : only.join(' or ')}`;
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
  // A path with many values always has one that $ne and $nin do not exclude.
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
  const own = given.flatMap((value) => asInEvents(kind, value) ?? []);
  return [ANY[kind] ?? 0, ...own, ...given.flatMap((value) => neighbours(kind, value)), ...middles(kind, given)];
}

/** A value of a filter as events have it; undefined if none can have it, such as half a second. Neighbours include instants, which have limits. */
function asInEvents(kind: string, value: unknown): unknown {
  if (kind === 'uuid') return String(value).toLowerCase();
  if (kind === 'integer' || kind === 'cents') return Number.isInteger(value) ? value : undefined;
  return kind === 'timestamp' ? undefined : value;
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
