// Builds the single statement of a list page. Every filter has an index that ends in the list's order, so a page costs the same however
// many rows its filter matches. A filter with several values merges one index walk per value.
import { hash } from 'node:crypto';
import { startOfLocalDate, formatInstant, type Parameter, type Wanted } from '@truckroll/contract';
import type { Statement } from '@truckroll/postgres';
import { LRUCache } from 'lru-cache';
import { gateOf } from './gate.ts';
import { conditionOfTerm, rangeOf, termsOf } from './terms.ts';
import { LARGE_DOCUMENT, smallDocument } from './large.ts';
import type { ListRequest } from './list-request.ts';
import { decodePosition } from './position.ts';
import { noneBefore } from './projection.ts';
import { columnFor, isSearched, linkFor, referenceColumn, storedUnder, type Column, type Table } from './table.ts';

/** Any-of filters from most to least selective: links and ids lead to few rows, codes and null to many. */
const SELECTIVITY = ['link', 'uuid', 'text', 'boolean', 'missing'] as const;

interface AnyOf {
  parameter: Parameter;
  /** For the type `missing`, columns of which one is null. */
  values: unknown[];
  /** Where the values are compared: a column of the table, or the value column of a link table. */
  link: string | undefined;
  column: Column | undefined;
  type: string;
}

/** How a search reads the keys of records that may match, in the list's order. */
export type Keys =
  /** Those with an entry of each union. */
  | { readonly unions: readonly (readonly Wanted[])[] }
  /** At most `walked` records of the list, by its other filters. */
  | { readonly walked: number };

/** Rows are (order columns…, document or null if it is large, derived, onRead columns…). If there is a next page, one row more than the limit. */
export function listStatement(table: Table, request: ListRequest, keys?: Keys): Statement {
  return statementOf(table, request, (query) => {
    const limit = pageSize(request.collection.limit) + 1;
    if (keys === undefined) return pageText(query, rowColumns(table), query.conditions, limit);
    const others = 'walked' in keys ? [] : [...query.conditions, ...query.drivers.map((driver) => query.conditionOf(driver))];
    const conditions = [...others, ...query.terms()];
    const order = list(table.order, 'c');
    return `select p.* from (${keysText(query, keys)}) c, lateral (
        select ${list(table.order, 't')}, ${rowColumns(table)} from ${table.table} t where t.company_id = $1 and t.id = c.id and ${conditions.join(' and ')} limit 1
      ) p order by ${order} limit ${limit}`;
  });
}

/** The order columns of the last of the records that a search walks; no row if the list has fewer. */
export function lastWalked(table: Table, request: ListRequest, walked: number): Statement {
  const order = list(table.order, 'c');
  return statementOf(table, request, (query) => `select ${order} from (${keysText(query, { walked })}) c order by ${order} offset ${walked - 1} limit 1`);
}

interface ListQuery {
  readonly table: Table;
  readonly bind: (value: unknown, type: string) => string;
  /** The first is the walk's, and the others are conditions. */
  readonly drivers: readonly AnyOf[];
  readonly conditions: readonly string[];
  /** The conditions of a search. */
  readonly terms: () => string[];
  readonly conditionOf: (filter: AnyOf) => string;
  readonly after: (alias: string) => string[];
}

function statementOf(table: Table, request: ListRequest, textOf: (query: ListQuery) => string): Statement {
  const values: unknown[] = [storedUnder(table, request.collection.company_id)];
  const bind = (value: unknown, type: string): string => `$${values.push(value)}::${type}`;
  const { anyOf, bounds } = filtersOf(table, request);
  const [driver, ...others] = anyOf.sort((a, b) => selectivityRank(a) - selectivityRank(b));

  const conditions = [...Map.groupBy(bounds, ({ link }) => link)].flatMap(([link, ofLink]) => {
    const compare = (bound: Bound): string => `${bound.side} ${bound.comparison} ${bind(bound.value, bound.type)}`;
    if (link === undefined) return ofLink.map(compare);
    return [`exists (select from ${link} o where o.company_id = t.company_id and o.id = t.id and ${ofLink.map(compare).join(' and ')})`];
  });
  const conditionOf = ({ type, values: wanted, link, column }: AnyOf): string => {
    if (type === 'missing') return `(${wanted.map(isNull).join(' or ')})`;
    const among = `any(${bind(wanted, `${type}[]`)})`;
    if (link === undefined) return `t.${column?.name} = ${among}`;
    return `exists (select from ${link} o where o.company_id = t.company_id and o.id = t.id and o.value = ${among})`;
  };
  conditions.push(...others.map(conditionOf));
  const gate = gateOf(table, request);
  if (gate !== undefined) conditions.push(noneBefore(table.table, gate.version));
  const after = (alias: string): string[] => {
    if (request.collection.after.length === 0) return [];
    const position = decodePosition(request.collection.after, table.order.length);
    const types = position.length === 1 ? [idType(table)] : ['timestamptz', idType(table)];
    return [`(${list(table.order, alias)}) > (${position.map((value, i) => bind(value, types[i] as string)).join(', ')})`];
  };
  const asked = termsOf(table, request);
  const terms = (): string[] => asked.map((term) => conditionOfTerm(term, bind));
  const text = textOf({ table, bind, drivers: driver === undefined ? [] : [driver], conditions, terms, conditionOf, after });
  // The number of rows within bounds, or with a word, depends on their values, so such a page is planned each time instead of prepared.
  const label = `list_${table.table}`;
  return bounds.length > 0 || asked.length > 0 ? { label, text, values } : { label, name: statementName(text), text, values };
}

/** A page of the list by its filters, without a search. */
function pageText({ table, bind, drivers: [driver], after }: ListQuery, columns: string, others: readonly string[], limit: number): string {
  const conditions = [...others, ...after(driver?.link === undefined ? 't' : 'l')];
  const walk = (value: string | undefined): string => walkStatement(table, columns, driver, value, conditions, limit);

  // A record may match two of the values, or lack two of the references, but appears once in the page.
  const order = list(table.order, 'p');
  const merged = (rows: string): string => `select distinct on (${order}) p.* from ${rows} order by ${order} limit ${limit}`;

  if (driver === undefined) return walk(undefined);
  if (driver.type === 'missing') {
    const walks = driver.values.map((column) => walkStatement(table, columns, undefined, undefined, [...conditions, isNull(column)], limit));
    const [only, ...more] = walks;
    return more.length === 0 ? (only as string) : merged(`(${walks.map((each) => `(${each})`).join(' union all ')}) p`);
  }
  if (driver.values.length === 1) return walk(bind(driver.values[0], driver.type));
  return merged(`unnest(${bind(driver.values, `${driver.type}[]`)}) v(value), lateral (${walk('v.value')}) p`);
}

function keysText(query: ListQuery, keys: Keys): string {
  const { table, bind, after } = query;
  if ('walked' in keys) return pageText(query, '', query.conditions, keys.walked);
  const entries = (wanted: Wanted): string => {
    const [low, high] = rangeOf(wanted);
    const where = ['e.company_id = $1', `e.value >= ${bind(low, 'text')}`, `e.value < ${bind(high, 'text')}`, ...after('e')];
    return `select ${list(table.order, 'e')} from ${table.search?.table} e where ${where.join(' and ')}`;
  };
  const union = (some: readonly Wanted[]): string => `(${some.map(entries).join(' union all ')})`;
  // Without duplicates, since several entries of a record may match.
  const distinct = keys.unions.length === 1 ? `select distinct * from ${union(keys.unions[0] as Wanted[])} u` : keys.unions.map(union).join(' intersect ');
  return `select ${list(table.order, 'k')} from (${distinct}) k order by ${list(table.order, 'k')}`;
}

const isNull = (column: unknown): string => `t.${String(column)} is null`;

/** The columns of a page's rows that follow those of the order. */
function rowColumns(table: Table): string {
  // Aliased, since one of them may also be a column of the order, which is selected first.
  const onRead = (table.onRead?.columns ?? []).map((name, i) => `t.${name} as on_read_${i + 1}`);
  return [smallDocument(table, 't', String(LARGE_DOCUMENT)), ...onRead].join(', ');
}

function walkStatement(
  table: Table,
  columns: string,
  driver: AnyOf | undefined,
  value: string | undefined,
  conditions: readonly string[],
  limit: number,
): string {
  const { order } = table;
  const linked = driver?.link !== undefined;
  const from = linked ? `${driver.link} l join ${table.table} t on t.company_id = l.company_id and t.id = l.id` : `${table.table} t`;
  const at = linked ? 'l' : 't';
  const where = [
    `${at}.company_id = $1`,
    ...(driver === undefined ? [] : [linked ? `l.value = ${value}` : `t.${driver.column?.name} = ${value}`]),
    ...conditions,
  ];
  const selected = columns === '' ? list(order, at) : `${list(order, at)}, ${columns}`;
  return `select ${selected} from ${from} where ${where.join(' and ')} order by ${list(order, at)} limit ${limit}`;
}

function list(columns: readonly string[], alias: string): string {
  return columns.map((name) => `${alias}.${name}`).join(', ');
}

interface Bound {
  link: string | undefined;
  side: string;
  type: string;
  comparison: '>=' | '<';
  value: unknown;
}

function filtersOf(table: Table, request: ListRequest): { anyOf: AnyOf[]; bounds: Bound[] } {
  const anyOf: AnyOf[] = [];
  const bounds: Bound[] = [];
  for (const parameter of table.resource.list.parameters) {
    const { filter, field, name, within } = parameter;
    const given = within === 'collection' ? request.collection[name] : request[name];
    if (filter === undefined || given === undefined || given === null) continue;
    const link = linkFor(table, name);
    const column = link === undefined ? columnFor(table, name, filter.field) : undefined;
    if (isSearched(filter)) continue;
    if (filter.comparison === 'missing') {
      const columns = [given].flat().map((value) => referenceColumn(table, field.enum?.spellings.get(value as string) ?? '')?.name);
      if (columns.length > 0) anyOf.push({ parameter, values: [...new Set(columns)].sort(), link: undefined, column: undefined, type: 'missing' });
      continue;
    }
    if (filter.comparison !== 'any') {
      const local = field.kind === 'local_date';
      const plain = column === undefined ? given : column.fromRequest(given);
      const value = local ? formatInstant(startOfLocalDate(given as string, request.collection.time_zone)) : plain;
      const side = link === undefined ? `t.${column?.name}` : 'o.value';
      const type = link?.type ?? column?.type ?? 'date';
      bounds.push({ link: link?.table, side, type, comparison: filter.comparison === 'from' ? '>=' : '<', value });
      for (const [only, wanted] of Object.entries(table.bounded?.[name]?.only ?? {})) {
        const restricted = columnFor(table, only, only);
        anyOf.push({ parameter, values: [wanted], link: undefined, column: restricted, type: restricted?.type ?? 'text' });
      }
      continue;
    }
    const values = [...new Set<unknown>(Array.isArray(given) ? given : [given])];
    if (values.length === 0) continue;
    const spelled = field.enum?.spellings;
    anyOf.push({
      parameter,
      values: values.map((value) => spelled?.get(value as string) ?? (column === undefined ? value : (column.fromRequest(value) ?? value))),
      link: link?.table,
      column,
      type: column?.type ?? link?.type ?? 'uuid',
    });
  }
  return { anyOf, bounds };
}

function selectivityRank(filter: AnyOf): number {
  // Nothing is more selective than a list of ids.
  if (filter.parameter.name === 'ids') return -1;
  const kind = filter.link === undefined ? filter.type : 'link';
  return SELECTIVITY.indexOf(kind as (typeof SELECTIVITY)[number]);
}

export function idType(table: Pick<Table, 'columns'>): 'uuid' | 'text' {
  return table.columns.find((column) => column.name === 'id')?.type === 'text' ? 'text' : 'uuid';
}

/** LIMIT is a literal, since PostgreSQL replans for a parameter there. Few sizes mean few prepared statements; the reader drops the excess rows. */
const PAGE_SIZES = [1, 2, 5, 10, 20, 50, 100];

function pageSize(limit: number): number {
  return PAGE_SIZES.find((size) => size >= limit) ?? limit;
}

/** Statement names by text, for recently used texts only: filters combine without limit. Connections bound their prepared statements themselves. */
const names = new LRUCache<string, string>({ max: 500 });

function statementName(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = `list_${hash('sha256', text).slice(0, 16)}`;
    names.set(text, name);
  }
  return name;
}
