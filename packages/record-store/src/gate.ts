// Filters that are new in a release. Until all rows of a company have the new column, a list would lack records, so it is answered with 503 (docs/adr/0005).
import { ApiError } from '@truckroll/contract';
import type { Queryable } from '@truckroll/postgres';
import type { ListRequest } from './list-request.ts';
import { countBehind } from './projection.ts';
import { filterColumn, linkFor, referenceColumn, storedUnder, type Table } from './table.ts';

export interface Gate {
  /** Version by which all rows of the company must have been projected. */
  version: number;
  filters: string[];
}

/** Undefined if rows of any version can answer the request's filters: nearly always. */
export function gateOf(table: Table, request: ListRequest): Gate | undefined {
  const { since, resource } = table;
  if (since === undefined) return undefined;
  const gate: Gate = { version: 1, filters: [] };
  for (const parameter of resource.list.parameters) {
    const { name, filter, field, within } = parameter;
    const given = within === 'collection' ? request.collection[name] : request[name];
    if (filter === undefined || given === undefined || given === null || (Array.isArray(given) && given.length === 0)) continue;
    const link = linkFor(table, name);
    const sources =
      filter.comparison === 'missing'
        ? [given].flat().map((value) => referenceColumn(table, field.enum?.spellings.get(value as string) ?? '')?.name)
        : [link === undefined ? filterColumn(table, parameter)?.name : Object.keys(table.links).find((key) => table.links[key] === link)];
    const version = Math.max(...sources.map((source) => since[source ?? ''] ?? 1));
    if (version > 1) gate.filters.push(name);
    gate.version = Math.max(gate.version, version);
  }
  return gate.filters.length === 0 ? undefined : gate;
}

const MOST_COUNTED = 10_000;
/** Rough projection speed without other load, for Retry-After. */
const ROWS_PER_SECOND = 1000;

/** Throws 503 while the company has rows below the gate's version. */
export async function passGate(db: Queryable, table: Table, companyId: string, { version, filters }: Gate): Promise<void> {
  const count = await countBehind(db, { ...table, version }, storedUnder(table, companyId), MOST_COUNTED + 1);
  if (count === 0) return;
  const rows = count > MOST_COUNTED ? `more than ${MOST_COUNTED}` : String(count);
  const message =
    `The filter ${filters.join(', ')} is new here and is still being prepared: ${rows} of the company's records are to go. ` +
    'All other filters work. Try again after the time in Retry-After.';
  const retryAfterSeconds = Math.max(2, Math.ceil(count / ROWS_PER_SECOND));
  throw new ApiError('INTERNAL_ERROR', message, { status: 503, retryAfterSeconds });
}
