// Idempotency keys (decisions §5): a write has its key to itself from before it looks at anything until its transaction ends, by an
// advisory lock of PostgreSQL, and stores the key with its answer in the statement of its change, once. Scheduling of the release
// before stores the key first, without an answer: whoever comes second meets that row when it stores its own, and begins anew.
import { createHash } from 'node:crypto';
import { ApiError } from '@truckroll/contract';
import { isLockTimeout, isUniqueViolation, type Database, type Statement, type Transaction } from '@truckroll/service-kit';

const KEPT = `interval '30 days'`;
/** How long a request waits for another one with its key, and a write for a visit. */
const PATIENCE = '5s';
/** Keys that are deleted together: few enough that nothing else notices. */
const PURGED_AT_ONCE = 500;

/** Whose key it is, and what it was sent with. */
export interface Claim {
  companyId: string;
  userId: string;
  key: string;
  fingerprint: Buffer;
}

/** An answer as it is given and given again. */
export interface Answer {
  status: number;
  /** Path of the record that was made. */
  location: string | null;
  /** The response message: data and notification. */
  response: Buffer;
}

/** What makes two requests the same: the operation and the parsed message, without the caller and the key. */
export function fingerprintOf(operation: string, message: Uint8Array): Buffer {
  return createHash('sha256').update(`${operation}\0`).update(message).digest();
}

/** Of all advisory locks, those of keys. */
const LOCKS = 5;

/** What has to be locked; among the parameters of a statement that begins with `TRYING`. */
export const lockOf = ({ companyId, userId, key }: Claim): string => `${companyId}/${userId}/${key}`;

/**
 * How a statement begins that finds and locks something: nothing is looked for while another write has the key, and nobody waits longer
 * than so for what is found. The transaction has the key from then on.
 */
export const trying = (parameter: string): string => `key as materialized (
    select set_config('lock_timeout', '${PATIENCE}', true), pg_try_advisory_xact_lock(hashtextextended(${parameter}, ${LOCKS})) as free
  )`;

/** Takes a key for the rest of the transaction, after whoever has it. Errors: 409 when it waited in vain. */
export async function waitForKey(tx: Transaction, claim: Claim): Promise<void> {
  try {
    await tx.query({
      name: 'wait_for_idempotency_key',
      text: `with patience as materialized (select set_config('lock_timeout', '${PATIENCE}', true))
        select pg_advisory_xact_lock(hashtextextended($1, ${LOCKS})) from patience`,
      values: [lockOf(claim)],
    });
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    const message = 'A request with this Idempotency-Key is still being worked on. Send it again after the time in Retry-After.';
    throw new ApiError('IDEMPOTENCY_IN_PROGRESS', message, { retryAfterSeconds: 1, cause: error });
  }
}

/**
 * The answer of the write that had the key, if any. Sent after what locks the visit, which that write had locked too, whichever
 * release it was of. Errors: 409 where that was another write.
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
  // As good as none, where the purge has not met it yet.
  if (row.expired) {
    await tx.query({
      name: 'forget_idempotency_key',
      text: `delete from idempotency_keys where company_id = $1 and user_id = $2 and key = $3 and created_at < now() - ${KEPT}`,
      values: [companyId, userId, key],
    });
    return undefined;
  }
  if (!row.fingerprint.equals(fingerprint)) {
    const message = 'This Idempotency-Key was used for another request. Use a new key for every new write.';
    throw new ApiError('IDEMPOTENCY_KEY_REUSED', message, {
      details: [{ location: 'header', field: 'Idempotency-Key', code: 'IDEMPOTENCY_KEY_REUSED', message }],
    });
  }
  return row;
}

/** Stores the answer under its key. Refused where another write has stored its own: see `isTaken`. */
export function answering({ companyId, userId, key, fingerprint }: Claim, { status, location, response }: Answer): Statement {
  return {
    name: 'store_idempotency_key',
    text: `insert into idempotency_keys (company_id, user_id, key, fingerprint, status, location, response) values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [companyId, userId, key, fingerprint, status, location, response],
  };
}

/** Whether a write of the release before, which takes no lock, had the key at the same time and was faster. */
export function isTaken(error: unknown): boolean {
  return isUniqueViolation(error, 'idempotency_keys_pkey');
}

/** Deletes expired keys, passing over those that a write holds just now. Resolves to how many there were. */
export async function purgeKeys(database: Database, signal?: AbortSignal): Promise<number> {
  for (let purged = 0; ; ) {
    const { rowCount } = await database.query({
      name: 'purge_idempotency_keys',
      text: `delete from idempotency_keys where ctid = any(array(
        select ctid from idempotency_keys where created_at < now() - ${KEPT} limit ${PURGED_AT_ONCE} for update skip locked))`,
    });
    purged += rowCount;
    if (rowCount < PURGED_AT_ONCE || signal?.aborted) return purged;
  }
}
