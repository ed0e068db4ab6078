// Idempotency keys (decisions §5). A write holds its key through an advisory lock, from before its first read until its transaction ends,
// and stores the key with its answer in the statement that stores its change. Scheduling of the previous release stores the key first,
// without an answer. A write that meets such a row when it stores its own starts again.
import { createHash } from 'node:crypto';
import { ApiError } from '@truckroll/contract';
import { isLockTimeout, isUniqueViolation, notFreezing, type Database, type Transaction } from '@truckroll/postgres';

const KEPT = `interval '30 days'`;
/** Maximum wait of a request for another one with its key, and of a write for a visit. */
const LOCK_TIMEOUT = '5s';
const PURGED_AT_ONCE = 500;

export interface Claim {
  companyId: string;
  userId: string;
  key: string;
  fingerprint: Buffer;
}

/** The answer of a write, returned again for a repeated request. */
export interface Answer {
  status: number;
  location: string | null;
  response: Buffer;
}

/** Identifies a request: a hash of the operation and the parsed message, without the caller and the key. */
export function fingerprintOf(operation: string, message: Uint8Array): Buffer {
  return createHash('sha256').update(`${operation}\0`).update(message).digest();
}

const LOCKS = 5;

/** What to lock for a key; a parameter of statements that begin with `trying`. */
export const lockOf = ({ companyId, userId, key }: Claim): string => `${companyId}/${userId}/${key}`;

/**
 * First part of a statement that locks rows: it finds nothing while another write holds the key, and limits the wait for row locks.
 * From then on the transaction holds the key.
 */
export const trying = (parameter: string): string => `key as materialized (
    select set_config('lock_timeout', '${LOCK_TIMEOUT}', true), pg_try_advisory_xact_lock(hashtextextended(${parameter}, ${LOCKS})) as free
  )`;

/** Locks a key until the transaction ends, after waiting for its current holder. Errors: 409 if that takes too long. */
export async function waitForKey(tx: Transaction, claim: Claim): Promise<void> {
  try {
    await tx.query({
      name: 'wait_for_idempotency_key',
      text: `with setting as materialized (select set_config('lock_timeout', '${LOCK_TIMEOUT}', true))
        select pg_advisory_xact_lock(hashtextextended($1, ${LOCKS})) from setting`,
      values: [lockOf(claim)],
    });
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    const message = 'A request with this Idempotency-Key is still being worked on. Send it again after the time in Retry-After.';
    throw new ApiError('IDEMPOTENCY_IN_PROGRESS', message, { retryAfterSeconds: 1, cause: error });
  }
}

/**
 * The answer stored under the key, if any. Sent behind the statement that locks the visit, since the earlier write had locked it too, in
 * either release. Errors: 409 if the key belongs to a different request.
 */
export async function answered(tx: Transaction, { companyId, userId, key, fingerprint }: Claim): Promise<Answer | undefined> {
  const { rows } = await tx.query<Answer & { fingerprint: Buffer; expired: boolean }>({
    name: 'read_idempotency_key',
    text: `select fingerprint, status, location, response, created_at < now() - ${KEPT} as expired
      from idempotency_keys where company_id = $1 and user_id = $2 and key = $3`,
    values: [companyId, userId, key],
  });
  const [row] = rows;
  if (row === undefined) return undefined;
  // An expired key counts as absent, even if it has not been purged yet.
  if (row.expired) {
    await tx.query({
      name: 'forget_idempotency_key',
      text: `delete from idempotency_keys where company_id = $1 and user_id = $2 and key = $3 and created_at < now() - ${KEPT}`,
      values: [companyId, userId, key],
    });
    return undefined;
  }
  if (!row.fingerprint.equals(fingerprint)) {
    // The erasure of a person keeps only the key of an answer.
    const message =
      row.fingerprint.length === 0
        ? 'The request with this Idempotency-Key was served, and its answer showed a person who was erased since. Read the records to see the result.'
        : 'This Idempotency-Key was used for another request. Use a new key for every new write.';
    throw new ApiError('IDEMPOTENCY_KEY_REUSED', message, {
      details: [{ location: 'header', field: 'Idempotency-Key', code: 'IDEMPOTENCY_KEY_REUSED', message }],
    });
  }
  return row;
}

export const ANSWERING_VALUES = 7;

/** Stores the answer under its key. `first` is the number of the first of `answeringValues`. Fails if another write has stored its own: see `isTaken`. */
export function answeringText(first: number): string {
  const $ = (n: number): string => `$${first + n}`;
  return `insert into idempotency_keys (company_id, user_id, key, fingerprint, status, location, response)
    values (${$(0)}, ${$(1)}, ${$(2)}, ${$(3)}, ${$(4)}, ${$(5)}, ${$(6)})`;
}

export function answeringValues({ companyId, userId, key, fingerprint }: Claim, { status, location, response }: Answer): unknown[] {
  return [companyId, userId, key, fingerprint, status, location, response];
}

/** Whether a write of the previous release, which takes no lock, had the key at the same time and was faster. */
export function isTaken(error: unknown): boolean {
  return isUniqueViolation(error, 'idempotency_keys_pkey');
}

/** Deletes expired keys, skipping those that a write has locked. Resolves to the number deleted. */
export async function purgeKeys(database: Database, signal?: AbortSignal): Promise<number> {
  for (let purged = 0; ; ) {
    const { rowCount } = await database.query({
      name: 'purge_idempotency_keys',
      text: `delete from idempotency_keys where ctid = any(array(
        select ctid from idempotency_keys where created_at < now() - ${KEPT} and ${notFreezing('idempotency_keys.company_id')} limit ${PURGED_AT_ONCE} for update skip locked))`,
    });
    purged += rowCount;
    if (rowCount < PURGED_AT_ONCE || signal?.aborted) return purged;
  }
}
