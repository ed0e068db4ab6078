// The requests of keys: what is stored, in which order and whose it is read, and what is deleted.
import { randomBytes, randomUUID } from 'node:crypto';
import { now } from '@truckroll/contract';
import { LoggedRequests, type ListRequestsRequest, type LoggedRequest, type RequestChunk } from '@truckroll/contract/gen/integrations/v1/requests';
import type { Database } from '@truckroll/postgres';
import { silentLog } from '@truckroll/telemetry';
import { openFreshDatabase } from '@truckroll/testing';
import type { Context } from '../src/context.ts';
import { requestLog } from '../src/request-log/read.ts';
import { KEPT_OF_A_KEY, RequestKeeper, insertChunks, trimKey } from '../src/request-log/store.ts';
import { schema } from '../src/schema.ts';

let database: Database;
let close: () => Promise<void>;
beforeAll(async () => void ({ database, close } = await openFreshDatabase(schema)), 60_000);
afterAll(() => close());

const SECOND = 1_000_000;
const T = now() - 3600 * SECOND;

function logged(at: number, more: Partial<LoggedRequest> = {}): LoggedRequest {
  const common = { key: null, method: 'GET', route: '/v1/invoices', status: 200, error_code: null, details: [], duration_ms: 3, address: '192.0.2.7' };
  return { id: randomUUID(), at, ...common, ...more };
}

interface Caller {
  readonly company_id: string;
  readonly key_id: string;
}

const caller = (company_id: string = randomUUID()): Caller => ({ company_id, key_id: randomUUID() });

/** A row as a gateway reports it: all of its requests succeeded, or all failed. */
function chunk({ company_id, key_id }: Caller, requests: readonly LoggedRequest[]): RequestChunk {
  const failed = (requests[0]?.status ?? 0) >= 400;
  const times = requests.map(({ at }) => at);
  const [first_at, last_at] = [Math.min(...times), Math.max(...times)];
  return {
    company_id,
    key_id,
    failed,
    first_at,
    last_at,
    count: requests.length,
    requests: Buffer.from(LoggedRequests.encode({ requests: [...requests] }).finish()),
  };
}

async function read(companyId: string, filter: Partial<ListRequestsRequest> = {}, { limit = 100, key_id = null as string | null, ids = [] as string[] } = {}) {
  const pages: LoggedRequest[][] = [];
  for (let after: Uint8Array = Buffer.alloc(0); ; ) {
    const scope = { company_id: companyId, time_zone: 'America/Chicago' };
    const collection = { ...scope, limit, after, ids, created_from: null, created_before: null, updated_since: null };
    const request = {
      collection,
      caller: { ...scope, user_id: randomUUID(), key_id, address: null },
      key: [],
      status: [],
      route: [],
      from: null,
      before: null,
    };
    const { data, next } = await requestLog.listRequests({ database } as Context, { ...request, ...filter } as never);
    pages.push(data);
    if (next.length === 0) return { pages, found: pages.flat().map(({ id }) => id) };
    after = next;
  }
}

const idsOf = (requests: readonly LoggedRequest[]): string[] => requests.toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1)).map(({ id }) => id);

test.each([1, 2, 7, 100])('rows of several keys and gateways that overlap in time are read newest first, once each, in pages of %i', async (limit) => {
  const first = caller();
  const second = caller(first.company_id);
  const at = (...offsets: number[]) => offsets.map((offset) => logged(T + offset * SECOND));
  const rows = [at(0, 2, 4), at(1, 2, 3), at(2, 2, 2, 9), at(4, 5), at(20)];
  await insertChunks(database, [
    chunk(first, rows[0]!),
    chunk(second, rows[1]!),
    chunk(first, rows[2]!),
    chunk(second, rows[3]!),
    chunk(first, rows[4]!),
    chunk(caller(), at(3)),
  ]);
  expect((await read(first.company_id, {}, { limit })).found).toEqual(idsOf(rows.flat()));
});

test('rows that overlap are merged, although one statement reads only the first of them', async () => {
  const first = caller();
  const rows = Array.from({ length: 6 }, (_, row) => Array.from({ length: 300 }, (_each, i) => logged(T + Math.floor(row / 2) * 10_000 + 2 * i + (row % 2))));
  const second = caller(first.company_id);
  await insertChunks(
    database,
    rows.map((requests, row) => chunk(row % 2 === 0 ? first : second, requests)),
  );
  expect((await read(first.company_id)).found).toEqual(idsOf(rows.flat()));
});

test('a key reads its own requests only, and a user those of the company, or of the keys that it names', async () => {
  const mine = caller();
  const other = caller(mine.company_id);
  const [own, others] = [[logged(T)], [logged(T + 1)]];
  await insertChunks(database, [chunk(mine, own), chunk(other, others)]);
  const { company_id, key_id } = mine;
  expect((await read(company_id)).found).toEqual(idsOf([...own, ...others]));
  expect((await read(company_id, { key: [other.key_id] })).found).toEqual(idsOf(others));
  expect((await read(company_id, { key: [other.key_id, key_id] })).found).toEqual(idsOf([...own, ...others]));
  expect((await read(company_id, {}, { key_id })).found).toEqual(idsOf(own));
  expect((await read(company_id, { key: [other.key_id, key_id] }, { key_id })).found).toEqual(idsOf(own));
  expect((await read(company_id, { key: [other.key_id] }, { key_id })).found).toEqual([]);
  expect((await read(randomUUID(), { key: [key_id] }, { key_id })).found).toEqual([]);
});

test('filters by time, status, route and id', async () => {
  const me = caller();
  const good = [logged(T), logged(T + 10, { route: '/v1/jobs/{id}' })] as const;
  const bad = [logged(T + 5, { status: 400 }), logged(T + 20, { status: 404, route: null })] as const;
  await insertChunks(database, [chunk(me, good), chunk(me, bad)]);
  const found = async (filter: Partial<ListRequestsRequest>, ids: string[] = []) => (await read(me.company_id, filter, { ids })).found;
  expect(await found({ from: T + 5, before: T + 20 })).toEqual([good[1].id, bad[0].id]);
  expect(await found({ status: [400, 404] })).toEqual([bad[1].id, bad[0].id]);
  expect(await found({ status: [200, 404] })).toEqual([bad[1].id, good[1].id, good[0].id]);
  expect(await found({ status: [200] })).toEqual([good[1].id, good[0].id]);
  expect(await found({ route: ['/v1/jobs/{id}'] })).toEqual([good[1].id]);
  expect(await found({}, [bad[0].id, randomUUID()])).toEqual([bad[0].id]);
});

test('says which key a request came from by its present name', async () => {
  const { rows } = await database.query<{ company_id: string; user_id: string }>({
    text: `with c as (insert into companies (id, name, timezone, costing_enabled, verified_only) values (gen_random_uuid(), 'Lone Star', 'America/Chicago', true, false) returning id)
      insert into users (id, company_id, subject, email, first_name, last_name) select gen_random_uuid(), id, 'ana', 'ana@example.com', 'Ana', 'Ruiz' from c
      returning company_id, id as user_id`,
  });
  const { company_id, user_id } = rows[0]!;
  const [known, gone] = [caller(company_id), caller(company_id)];
  await database.query({
    text: `insert into api_keys (id, company_id, user_id, name, hash, key_prefix, key_suffix, created_by_kind) values ($1, $2, $3, 'Nightly export', $4, 'trk_abcd', 'wxyz', 'USER')`,
    values: [known.key_id, company_id, user_id, randomBytes(32)],
  });
  await insertChunks(database, [chunk(known, [logged(T + 1)]), chunk(gone, [logged(T)])]);
  const [page] = (await read(company_id)).pages;
  expect(page!.map(({ key }) => key)).toEqual([
    { id: known.key_id, name: 'Nightly export' },
    { id: gone.key_id, name: null },
  ]);
});

test('a page ends after 1 MB of the log, with a cursor, although nothing in them matches', async () => {
  const me = caller();
  const details = Array.from({ length: 5 }, () => ({ location: 'query', field: 'x'.repeat(64), code: 'UNKNOWN_PARAMETER' }));
  const first = [logged(T, { status: 404 })];
  const rows = Array.from({ length: 12 }, (_, row) => Array.from({ length: 250 }, (_each, i) => logged(T + row * 1000 + i + 1, { status: 400, details })));
  await insertChunks(database, [chunk(me, first), ...rows.map((requests) => chunk(me, requests))]);
  const { pages } = await read(me.company_id, { status: [404] });
  expect(pages.length).toBeGreaterThan(1);
  expect([pages[0], pages.at(-1)!.map(({ id }) => id)]).toEqual([[], idsOf(first)]);
  expect((await read(me.company_id)).found).toEqual(idsOf([...first, ...rows.flat()]));
});

test('of each key the newest 10,000 requests of either kind are kept, and nothing above 7 days', async () => {
  const [busy, other] = [caller(), caller()];
  const row = (second: number, status: number) => Array.from({ length: 2500 }, (_, i) => logged(T + second * SECOND + i, { status }));
  const good = Array.from({ length: 6 }, (_, index) => row(index, 200));
  const bad = [row(0, 400)];
  const old = [logged(now() - 8 * 86_400 * SECOND)];
  await insertChunks(
    database,
    [...good, ...bad].map((requests) => chunk(busy, requests)),
  );
  await insertChunks(database, [chunk(other, old), chunk(other, [logged(T)])]);
  expect(await trimKey(database, { companyId: busy.company_id, keyId: busy.key_id })).toBe(2);
  const { rows } = await database.query({
    text: 'select failed, sum(count)::int as count, min(first_at) as first_at from request_log where company_id = $1 group by failed order by failed',
    values: [busy.company_id],
  });
  expect(rows).toEqual([
    { failed: false, count: KEPT_OF_A_KEY, first_at: T + 2 * SECOND },
    { failed: true, count: 2500, first_at: T },
  ]);
  expect(await trimKey(database, { companyId: other.company_id, keyId: other.key_id })).toBe(1);
});

test('old requests are not shown before they are deleted', async () => {
  const me = caller();
  await insertChunks(database, [chunk(me, [logged(now() - 8 * 86_400 * SECOND)])]);
  expect((await read(me.company_id)).found).toEqual([]);
});

test('a busy key is trimmed soon, and all keys in turn', async () => {
  const log = new RequestKeeper(database, silentLog);
  const [busy, idle] = [caller(), caller()];
  const old = now() - 8 * 86_400 * SECOND;
  await insertChunks(database, [chunk(busy, [logged(old)]), chunk(idle, [logged(old)])]);
  const rows = async ({ company_id }: Caller): Promise<number> =>
    (await database.query({ text: 'select from request_log where company_id = $1', values: [company_id] })).rowCount;
  const { signal } = new AbortController();
  await log.store({
    chunks: [
      chunk(
        busy,
        Array.from({ length: 999 }, () => logged(T)),
      ),
    ],
  });
  await log.trimGrown(signal);
  expect([await rows(busy), await rows(idle)]).toEqual([2, 1]);
  await log.store({ chunks: [chunk(busy, [logged(T)])] });
  await log.trimGrown(signal);
  expect([await rows(busy), await rows(idle)]).toEqual([2, 1]);
  await log.trimAll(signal);
  expect([await rows(busy), await rows(idle)]).toEqual([2, 0]);
});

test('refuses a chunk that names no key', async () => {
  const log = new RequestKeeper(database, silentLog);
  const unnamed = { company_id: '', key_id: '' };
  await expect(log.store({ chunks: [chunk(unnamed, [logged(T)])] })).rejects.toMatchObject({ status: 500 });
});
