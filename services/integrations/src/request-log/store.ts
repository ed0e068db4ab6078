// Storing the requests of keys, and deleting what is no longer kept of them (decisions §19).
import { ApiError, formatInstant, isUuid } from '@truckroll/contract';
import type { RequestChunk, StoreRequestsRequest, StoreRequestsResponse } from '@truckroll/contract/gen/integrations/v1/requests';
import { isErased } from '@truckroll/outbox';
import { notFreezing, notFrozen, type Database, type Queryable } from '@truckroll/postgres';
import { PeriodicTask, logOutage, pause, type BackgroundPart } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';

/** Requests kept of a key that succeeded, and as many that failed. What is left out of a row is deleted with the row. */
export const KEPT_OF_A_KEY = 10_000;
/** SQL for the age at which requests are deleted. */
export const KEPT_FOR = `interval '7 days'`;
/** Requests of a key that a replica stores before it deletes older ones of it: a tenth, so that tables grow by no more. */
const TRIM_AFTER = KEPT_OF_A_KEY / 10;
const SOON_MS = 10_000;
const HOUR_MS = 3_600_000;

interface Key {
  readonly companyId: string;
  readonly keyId: string;
}

/** Adds what gateways report, without requests to deleted and frozen companies. */
export async function insertChunks(db: Queryable, chunks: readonly RequestChunk[]): Promise<void> {
  await db.query({
    name: 'insert_request_log',
    text: `insert into request_log (company_id, key_id, first_at, last_at, failed, count, requests)
      select * from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::timestamptz[], $5::boolean[], $6::int[], $7::bytea[]) g (company_id)
      where not ${isErased('g.company_id')} and ${notFrozen('g.company_id')}`,
    values: [
      chunks.map(({ company_id }) => company_id),
      chunks.map(({ key_id }) => key_id),
      chunks.map(({ first_at }) => formatInstant(first_at)),
      chunks.map(({ last_at }) => formatInstant(last_at)),
      chunks.map(({ failed }) => failed),
      chunks.map(({ count }) => count),
      chunks.map(({ requests }) => requests),
    ],
  });
}

/** Deletes of one key what is older than 7 days, and the rows before its newest 10,000 requests of either kind. Resolves to the number of rows. */
export async function trimKey(db: Queryable, { companyId, keyId }: Key): Promise<number> {
  const { rowCount } = await db.query({
    name: 'trim_request_log',
    text: `delete from request_log where company_id = $1 and key_id = $2 and ctid = any(array(
      select r.ctid from request_log r join (
        select last_at, id, sum(count) over (partition by failed order by last_at desc, id desc rows between unbounded preceding and 1 preceding) as newer
        from request_log where company_id = $1 and key_id = $2) n on r.last_at = n.last_at and r.id = n.id
      where r.company_id = $1 and r.key_id = $2 and ${notFreezing('r.company_id')} and (n.newer >= $3 or r.last_at < now() - ${KEPT_FOR})
      for update of r skip locked))`,
    values: [companyId, keyId, KEPT_OF_A_KEY],
  });
  return rowCount;
}

/** The key after this one that has requests. */
async function nextKey(db: Queryable, { companyId, keyId }: Key): Promise<Key | undefined> {
  const { rows } = await db.query<{ company_id: string; key_id: string }>({
    name: 'next_key_of_request_log',
    text: 'select company_id, key_id from request_log where (company_id, key_id) > ($1, $2) order by company_id, key_id limit 1',
    values: [companyId, keyId],
  });
  return rows[0] && { companyId: rows[0].company_id, keyId: rows[0].key_id };
}

/** The log of one replica. Deletes soon of keys that it has stored much of, and every hour of all. */
export class RequestKeeper {
  readonly #database: Database;
  readonly #log: Logger;
  /** Requests stored since the key was trimmed, by key. */
  readonly #grown = new Map<string, Key & { count: number }>();

  constructor(database: Database, log: Logger) {
    this.#database = database;
    this.#log = log;
  }

  async store({ chunks }: StoreRequestsRequest): Promise<StoreRequestsResponse> {
    if (!chunks.every(({ company_id, key_id }) => isUuid(company_id) && isUuid(key_id))) throw ApiError.internal(new Error('a chunk names no key'));
    if (chunks.length > 0) await insertChunks(this.#database, chunks);
    for (const { company_id: companyId, key_id: keyId, count } of chunks) {
      const grown = this.#grown.get(keyId);
      if (grown === undefined) this.#grown.set(keyId, { companyId, keyId, count });
      else grown.count += count;
    }
    return {};
  }

  parts(): BackgroundPart[] {
    const failed = (error: unknown, failures: number): void => logOutage(this.#log, 'old requests of keys are not deleted; trying again', failures, error);
    return [
      new PeriodicTask(SOON_MS, (signal) => this.trimGrown(signal), failed).asPart('requests of busy keys'),
      new PeriodicTask(HOUR_MS, (signal) => this.trimAll(signal), failed, SOON_MS).asPart('requests of all keys'),
    ];
  }

  /** Trims the keys that have grown by a tenth of what is kept. */
  async trimGrown(signal: AbortSignal): Promise<void> {
    for (const [keyId, { count, ...key }] of this.#grown) {
      if (count < TRIM_AFTER) continue;
      if (signal.aborted) return;
      this.#grown.delete(keyId);
      await trimKey(this.#database.of(key.companyId), key);
    }
  }

  /** Trims every key, in the order of companies. */
  async trimAll(signal: AbortSignal): Promise<void> {
    let deleted = 0;
    const first = '00000000-0000-0000-0000-000000000000';
    for (let key = await nextKey(this.#database, { companyId: first, keyId: first }); key !== undefined; key = await nextKey(this.#database, key)) {
      if (signal.aborted) return;
      this.#grown.delete(key.keyId);
      const startedAt = performance.now();
      deleted += await trimKey(this.#database.of(key.companyId), key);
      // Counting reads all rows of a key: half of the time is left to other work.
      await pause(performance.now() - startedAt, signal);
    }
    // Keys without requests need no count.
    this.#grown.clear();
    if (deleted > 0) this.#log.info({ deleted }, 'deleted old requests of keys');
  }
}
