// Reading the requests of keys, newest first.
import { ApiError, formatInstant } from '@truckroll/contract';
import { LoggedRequests, type ListRequestsRequest, type ListRequestsResponse, type LoggedRequest } from '@truckroll/contract/gen/integrations/v1/requests';
import type { Queryable } from '@truckroll/postgres';
import type { Context } from '../context.ts';
import { callerOf, checked } from '../requests.ts';
import { KEPT_FOR } from './store.ts';

/** Most time in microseconds between the requests of one row: gateways report every second, and wait 3 s for an answer. */
const SPAN = 10_000_000;
/** Bytes that the first statement of a page reads, at least one row; each further one reads four times as much, up to the second. */
const READ_FIRST = 32_000;
const MOST_AT_ONCE = 250_000;
/** Bytes after which a page ends early: reading them takes some hundredths of a second. */
const MOST_READ = 1_000_000;
const ROWS_AT_ONCE = 500;
/** Comes before every id in the order of pages. */
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const FIRST_FAILURE = 400;

/** A place in the order of pages: requests come after it that are older, or of its time with a lower id. */
interface Place {
  readonly at: number;
  readonly id: string;
}

interface Row {
  readonly key_id: string;
  readonly name: string | null;
  readonly last_at: number;
  readonly id: string;
  readonly requests: Buffer;
  /** Whether older rows follow those that were read. */
  readonly goes_on: boolean;
}

interface Wanted {
  readonly companyId: string;
  /** Keys whose requests to list; null for all. */
  readonly keys: readonly string[] | null;
  /** Only failed requests, or only others; null for both. */
  readonly failed: boolean | null;
  readonly from: number | null;
}

async function list({ database }: Context, request: ListRequestsRequest): Promise<ListRequestsResponse> {
  const { collection, from, before, key, status, route } = checked('ListRequestsRequest', request);
  const { key_id: ownKey } = callerOf(request);
  if (collection == null) throw ApiError.internal(new Error('a list request has no collection'));
  const { company_id: companyId, limit } = collection;
  // A key sees its own requests, whichever keys it asks for.
  const keys = ownKey == null ? key : key.length === 0 || key.includes(ownKey) ? [ownKey] : [];
  if (ownKey != null && keys.length === 0) return { data: [], next: Buffer.alloc(0) };
  const failures = new Set(status.map((each) => each >= FIRST_FAILURE));
  const wanted = { companyId, keys: keys.length === 0 ? null : keys, failed: failures.size === 1 ? failures.has(true) : null, from: from ?? null };
  const [ids, statuses, routes] = [new Set(collection.ids), new Set(status), new Set(route)];
  const after = placeOf(request.collection?.after ?? new Uint8Array(), before);
  const matches = (logged: LoggedRequest): boolean =>
    isAfter(logged, after) &&
    (from == null || logged.at >= from) &&
    (ids.size === 0 || ids.has(logged.id)) &&
    (statuses.size === 0 || statuses.has(logged.status)) &&
    (routes.size === 0 || routes.has(logged.route ?? ''));
  return await page(database.of(companyId), wanted, after, limit, matches);
}

/**
 * Rows overlap in time, because each is of one key and gateway. So rows are read by their last request, newest first, and a request has its
 * place on the page as soon as every row that is left ends before it.
 */
async function page(db: Queryable, wanted: Wanted, after: Place, limit: number, matches: (logged: LoggedRequest) => boolean): Promise<ListRequestsResponse> {
  const found: LoggedRequest[] = [];
  let last: Place = { at: Math.min(after.at + SPAN, Number.MAX_SAFE_INTEGER), id: LAST_ID };
  for (let bytes = 0, atOnce = READ_FIRST; ; atOnce = Math.min(4 * atOnce, MOST_AT_ONCE)) {
    const rows = await rowsBefore(db, wanted, after, last, atOnce);
    for (const { key_id: id, name, requests } of rows) {
      bytes += requests.length;
      const ofKey = LoggedRequests.decode(requests).requests.map((logged) => ({ ...logged, key: { id, name } }));
      found.push(...ofKey.filter(matches));
    }
    const end = rows.at(-1);
    const horizon = end?.goes_on === true ? end.last_at : -Infinity;
    const placed = found.filter(({ at }) => at > horizon).toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
    if (placed.length > limit) return { data: placed.slice(0, limit), next: position(placed[limit - 1] as LoggedRequest) };
    if (end?.goes_on !== true) return { data: placed, next: Buffer.alloc(0) };
    // The next page reads again the rows that reach beyond the horizon, so the horizon must have moved.
    if ((placed.length === limit || bytes >= MOST_READ) && horizon < after.at) return { data: placed, next: position({ at: horizon, id: LAST_ID }) };
    last = { at: end.last_at, id: end.id };
  }
}

async function rowsBefore(db: Queryable, { companyId, keys, failed, from }: Wanted, after: Place, { at, id }: Place, bytes: number): Promise<Row[]> {
  // The primary key gives the order of one key's rows.
  const [kind, ofKeys] = keys === null ? ['', ''] : keys.length === 1 ? ['_of_key', ' and key_id = $9'] : ['_of_keys', ' and key_id = any($9::uuid[])'];
  const { rows } = await db.query<Row>({
    name: `list_request_log${kind}${failed === true ? '_failed' : ''}`,
    label: 'list_request_log',
    text: `select m.key_id, k.name, m.last_at, m.id, m.requests, m.found > m.ordinal as goes_on from (
        select *, count(*) over () as found, row_number() over newest as ordinal, sum(octet_length(requests)) over newest as bytes
        from (select * from request_log where company_id = $1 and (last_at, id) < ($2::timestamptz, $3::uuid) and first_at <= $4
          and last_at >= greatest($5::timestamptz, now() - ${KEPT_FOR}) and ($6::boolean is null or failed = $6)${failed === true ? ' and failed' : ''}${ofKeys}
          order by last_at desc, id desc limit $7 + 1) listed
        window newest as (order by last_at desc, id desc)) m
      left join api_keys k on k.company_id = $1 and k.id = m.key_id
      where m.ordinal = 1 or (m.bytes <= $8 and m.ordinal <= $7) order by m.last_at desc, m.id desc`,
    values: [
      companyId,
      formatInstant(at),
      id,
      formatInstant(after.at),
      from === null ? null : formatInstant(from),
      failed,
      ROWS_AT_ONCE,
      bytes,
      ...(keys === null ? [] : [keys.length === 1 ? keys[0] : keys]),
    ],
  });
  return rows;
}

function isAfter({ at, id }: LoggedRequest, place: Place): boolean {
  return at < place.at || (at === place.at && id < place.id);
}

function position({ at, id }: Place): Buffer {
  return Buffer.from(`${at} ${id}`, 'latin1');
}

/** Where the page starts: after the cursor, or before `before`. */
function placeOf(after: Uint8Array, before: number | null | undefined): Place {
  if (after.length === 0) return { at: before ?? Number.MAX_SAFE_INTEGER, id: '' };
  const [at, id] = Buffer.from(after).toString('latin1').split(' ') as [string, string];
  return { at: Number(at), id };
}

export const requestLog = { listRequests: list };
