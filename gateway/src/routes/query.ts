// The strict query parser (api.md, policy of all collection reads), compiled from an operation's parameters.
import { BEYOND, checkText, type DetailCode, type ErrorDetail, type Parameter } from '@truckroll/contract';
import { CSV_PARAMETERS, type CsvForm, type CsvParameter } from '../http/csv.ts';
import { mostValues, isRequired, type Inputs, type Value } from './inputs.ts';
import { compilePeriods, type RangePair } from './periods.ts';
import { splitQuery } from './query-text.ts';
import { closest } from './suggest.ts';

/** Page size if the request does not set one (api.md). */
export const DEFAULT_LIMIT = 50;
/** Maximum problems listed in one answer: no reader needs more. */
export const MOST_PROBLEMS = 100;
/** Unknown names of one request that get a suggestion or the list of known names. */
const MOST_HINTS = 3;

const NONE: ReadonlySet<Parameter> = new Set();

/** A parsed query. Its values are valid only if there are no problems. */
export interface Query {
  /** Values by parameter; distinct and in order if it is repeated. Absent parameters have their default or no entry. */
  values: Map<Parameter, Value | Value[]>;
  /** Parameters that were left out and have their default. */
  defaulted: ReadonlySet<Parameter>;
  limit: number;
  cursor: string | undefined;
  /** Not part of `filters`: a cursor goes on in either form. */
  csv: CsvForm;
  /** Canonical text of the filters, the same for every spelling of equal filters. */
  filters: string;
  problems: ErrorDetail[];
}

export type QueryParser = (text: string) => Query;

/** The parser never throws: it adds all problems to its result. */
export function compileQuery({ query: parameters, pages, csv }: Pick<Inputs, 'query' | 'pages' | 'csv'>): QueryParser {
  const limit = parameters.find((parameter) => parameter.within === 'collection' && parameter.name === 'limit');
  const byName = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  const others = new Set([...(pages ? ['cursor'] : []), ...(csv ? Object.keys(CSV_PARAMETERS) : [])]);
  const names = [...byName.keys(), ...others];
  const restrictions = parameters.filter((parameter) => parameter !== limit);
  const canonicalOrder = restrictions.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const required = restrictions.filter(isRequired);
  const defaults = restrictions.flatMap(defaultOf);
  const ranges = rangesOf(restrictions);
  const checkPeriods = compilePeriods(restrictions, ranges);
  const bounded = restrictions.filter((parameter) => parameter.field.repeated && mostValues(parameter) !== undefined);

  return (text) => {
    const query: Query = { values: new Map(), defaulted: NONE, limit: DEFAULT_LIMIT, cursor: undefined, csv: {}, filters: '', problems: [] };
    const { values, problems } = query;
    const given = new Map<string, number>();
    let unknownNames = 0;
    for (const { name, value } of splitQuery(text)) {
      if (problems.length >= MOST_PROBLEMS) break;
      const count = (given.get(name) ?? 0) + 1;
      given.set(name, count);
      const parameter = byName.get(name);
      if (value === undefined) {
        problems.push(problem(name, 'INVALID_FORMAT', 'Percent-encode it as UTF-8; write a literal % as %25.'));
      } else if (parameter === undefined && !others.has(name)) {
        if (count === 1) problems.push(unknown(name, unknownNames++ < MOST_HINTS ? hintFor(name, names) : ''));
      } else if (count > 1 && !parameter?.field.repeated) {
        if (count === 2) problems.push(problem(name, 'REPEATED_PARAMETER', 'Give it once.'));
      } else if (Object.hasOwn(CSV_PARAMETERS, name)) {
        readCsvForm(name as CsvParameter, value, query);
      } else if (parameter === undefined) {
        if (value === '') problems.push(problem(name, 'EMPTY_VALUE', 'Leave the parameter out to start with the first page.'));
        query.cursor = value;
      } else {
        readValue(parameter, value, query);
      }
    }
    if (limit !== undefined) query.limit = (values.get(limit) as number | undefined) ?? DEFAULT_LIMIT;
    for (const parameter of bounded) {
      const most = mostValues(parameter) as number;
      if ((given.get(parameter.name) ?? 0) <= most) continue;
      problems.push(problem(parameter.name, 'OUT_OF_RANGE', `Give at most ${most} values in one request.`));
    }
    for (const { name } of required) {
      if (!given.has(name)) problems.push(problem(name, 'MISSING', 'Give this parameter.'));
    }
    for (const { from, before } of ranges) {
      const [lower, upper] = [values.get(from), values.get(before)];
      if (lower !== undefined && upper !== undefined && upper <= lower && !bothBeyond(lower, upper)) {
        problems.push(problem(before.name, 'RANGE_ORDER', `Give a value later than ${from.name}; the upper bound is exclusive.`));
      }
    }
    if (defaults.length > 0) {
      const leftOut = defaults.filter(([{ name }]) => !given.has(name));
      for (const [parameter, value] of leftOut) values.set(parameter, value);
      query.defaulted = new Set(leftOut.map(([parameter]) => parameter));
    }
    const tooMany = checkPeriods?.(values);
    if (tooMany !== undefined) problems.push(tooMany);
    if (values.size > 0) query.filters = canonical(canonicalOrder, values);
    return query;
  };
}

function readCsvForm(name: CsvParameter, value: string, query: Query): void {
  const values: readonly string[] = CSV_PARAMETERS[name];
  if (values.includes(value)) Object.assign(query.csv, { [name]: value });
  else query.problems.push(problem(name, value === '' ? 'EMPTY_VALUE' : 'INVALID_ENUM_VALUE', `Use one of ${values.join(', ')}.`));
}

function readValue(parameter: Parameter, text: string, query: Query): void {
  const { name, field } = parameter;
  const checked = checkText(field, text);
  if ('code' in checked) {
    const hint = field.repeated && text.includes(',') ? ` Repeat the parameter for several values: ${name}=A&${name}=B.` : '';
    query.problems.push(problem(name, checked.code, checked.message + hint));
    return;
  }
  // For an id that is an enum, the text itself is the id.
  const value = (parameter.within === 'collection' && field.kind === 'enum' ? text : checked.value) as Value;
  if (!field.repeated) {
    query.values.set(parameter, value);
    return;
  }
  const list = query.values.get(parameter) as Value[] | undefined;
  if (list === undefined) query.values.set(parameter, [value]);
  else if (!list.includes(value)) list.push(value);
}

/** The values of a parameter that is left out. Shared between requests, so it is never changed. */
function defaultOf(parameter: Parameter): [Parameter, Value | Value[]][] {
  const { field, name } = parameter;
  if (field.defaults === undefined) return [];
  const values = field.defaults.map((text) => {
    const checked = checkText(field, text);
    if ('code' in checked) throw new Error(`the default ${text} of ${name} is none of its values: ${checked.message}`);
    return checked.value as Value;
  });
  return [[parameter, field.repeated ? values.toSorted() : (values[0] as Value)]];
}

function rangesOf(parameters: readonly Parameter[]): RangePair[] {
  return parameters.flatMap((from) => {
    const before = parameters.find(({ filter }) => filter?.comparison === 'before' && filter.field === from.filter?.field);
    return from.filter?.comparison === 'from' && before !== undefined ? [{ from, before }] : [];
  });
}

/** Whether both bounds lie beyond the range of instants on the same side, so that their order is unknown. */
function bothBeyond(lower: Value | Value[], upper: Value | Value[]): boolean {
  return lower === upper && (upper === BEYOND.before || upper === BEYOND.after);
}

/** Sorts repeated values in place: services receive them in the order of the text. */
function canonical(order: readonly Parameter[], values: ReadonlyMap<Parameter, Value | Value[]>): string {
  const parts: unknown[] = [];
  for (const parameter of order) {
    const value = values.get(parameter);
    if (value !== undefined) parts.push(parameter.name, Array.isArray(value) ? value.sort() : value);
  }
  return parts.length === 0 ? '' : JSON.stringify(parts);
}

function hintFor(name: string, names: readonly string[]): string {
  const meant = closest(name, names);
  return meant === undefined ? (names.length === 0 ? '' : ` It takes ${names.join(', ')}.`) : ` Did you mean ${meant}?`;
}

function unknown(name: string, hint: string): ErrorDetail {
  return problem(name, 'UNKNOWN_PARAMETER', `Remove it: this operation has no such parameter.${hint}`);
}

function problem(field: string, code: DetailCode, message: string): ErrorDetail {
  return { location: 'query', field: field.slice(0, 100), code, message };
}
