// Idempotency keys (decisions §5): a write claims its key before it looks at anything, and leaves its answer there in
// the transaction of its change. The claim is what a second request with the key waits for.
import { createHash } from 'node:crypto';
import { ApiError } from '@truckroll/contract';
import { isLockTimeout, type Database, type Statement, type Transaction } from '@truckroll/service-kit';

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

/**
 * Claims a key for the rest of the transaction; false where it is taken by a committed write. Waits for a transaction
 * that has claimed it, and lets whatever follows wait no longer than that either. Errors: 409 when it waited in vain.
 */
export async function claim(tx: Transaction, { companyId, userId, key, fingerprint }: Claim): Promise<boolean> {
  try {
    const { rowCount } = await tx.query({
      name: 'claim_idempotency_key',
      // An expired key that the purge has not met yet is as good as none.
      text: `with patience as materialized (select set_config('lock_timeout', '${PATIENCE}', true))
        insert into idempotency_keys as k (company_id, user_id, key, fingerprint)
        select $1::uuid, $2::uuid, $3::text, $4::bytea from patience
        on conflict (company_id, user_id, key) do update
          set fingerprint = excluded.fingerprint, created_at = excluded.created_at, response = null
          where k.created_at < now() - ${KEPT}`,
      values: [companyId, userId, key, fingerprint],
    });
    return rowCount === 1;
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    const message = 'A request with this Idempotency-Key is still being worked on. Send it again after the time in Retry-After.';
    throw new ApiError('IDEMPOTENCY_IN_PROGRESS', message, { retryAfterSeconds: 1, cause: error });
  }
}

/** The answer of the write that has the key. Errors: 409 where that was another write. */
export async function answered(tx: Transaction, { companyId, userId, key, fingerprint }: Claim): Promise<Answer> {
  const { rows } = await tx.query<Answer & { fingerprint: Buffer }>({
    name: 'read_idempotency_key',
    text: `select fingerprint, status, location, response from idempotency_keys where company_id = $1 and user_id = $2 and key = $3`,
    values: [companyId, userId, key],
  });
  const [row] = rows;
  if (row === undefined) throw ApiError.unavailable(new Error('an idempotency key expired while it was looked up'), 1);
  if (!row.fingerprint.equals(fingerprint)) {
    const message = 'This Idempotency-Key was used for another request. Use a new key for every new write.';
    throw new ApiError('IDEMPOTENCY_KEY_REUSED', message, {
      details: [{ location: 'header', field: 'Idempotency-Key', code: 'IDEMPOTENCY_KEY_REUSED', message }],
    });
  }
  return row;
}

/** Leaves the answer with the key that the transaction has claimed. */
export function answering({ companyId, userId, key }: Claim, { status, location, response }: Answer): Statement {
  return {
    name: 'answer_idempotency_key',
    text: `update idempotency_keys set status = $4, location = $5, response = $6 where company_id = $1 and user_id = $2 and key = $3`,
    values: [companyId, userId, key, status, location, response],
  };
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
