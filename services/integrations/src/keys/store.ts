import { randomUUID } from 'node:crypto';
import { ApiError, apiKeyEnds, formatInstant, generateApiKey, hashApiKey } from '@truckroll/contract';
import type { CreateKeyRequest, KeyAccount, KeyLimits, KeyState } from '@truckroll/contract/gen/integrations/v1/admin';
import { notFreezing, type Queryable, type Transaction } from '@truckroll/postgres';

/** Kind of a key's issuer (decisions §8). */
export type CreatorKind = 'USER' | 'OPERATOR';

type Row = Omit<KeyAccount, 'limits'> & KeyLimits & { state: KeyState };

/** Columns of api_keys (alias k) with its user (alias u). The cases are in the order of KeyState. */
const COLUMNS = `k.id, k.company_id, k.user_id, k.name, k.key_prefix, k.key_suffix, k.created_at, k.last_used_at, k.expires_at,
  k.revoked_at, k.reads_per_minute, k.reports_per_minute, k.writes_per_minute,
  case when k.revoked_at is not null then 'KEY_STATE_REVOKED' when k.expires_at <= now() then 'KEY_STATE_EXPIRED'
    when not u.active then 'KEY_STATE_USER_INACTIVE' when u.company_id <> k.company_id then 'KEY_STATE_USER_MOVED'
    else 'KEY_STATE_ACTIVE' end as state`;

function keyOf({ reads_per_minute, reports_per_minute, writes_per_minute, ...key }: Row): KeyAccount {
  return { ...key, limits: { reads_per_minute, reports_per_minute, writes_per_minute } };
}

/** Creates a key. Only the hash of its value is stored. */
export async function insertKey(db: Queryable, key: CreateKeyRequest, creator: CreatorKind): Promise<{ key: KeyAccount; value: string }> {
  const value = generateApiKey();
  const { keyPrefix, keySuffix } = apiKeyEnds(value);
  const limits = key.limits;
  const { rows } = await db.query<Row>({
    name: 'insert_key',
    text: `with k as (
        insert into api_keys (id, company_id, user_id, created_by_kind, name, hash, key_prefix, key_suffix, expires_at,
          reads_per_minute, reports_per_minute, writes_per_minute)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) returning *)
      select ${COLUMNS} from k join users u on u.id = k.user_id`,
    values: [
      randomUUID(),
      key.company_id,
      key.user_id,
      creator,
      key.name,
      hashApiKey(value),
      keyPrefix,
      keySuffix,
      key.expires_at == null ? null : formatInstant(key.expires_at),
      limits?.reads_per_minute ?? null,
      limits?.reports_per_minute ?? null,
      limits?.writes_per_minute ?? null,
    ],
  });
  return { key: keyOf(rows[0] as Row), value };
}

/** Throws 409 if the company has reached its limit of live keys. Locks the company until the transaction ends. */
export async function requireRoom(tx: Transaction, companyId: string): Promise<void> {
  const { rows } = await tx.query<{ most: number }>({
    name: 'lock_key_limit',
    text: 'select key_limit as most from companies where id = $1 for no key update',
    values: [companyId],
  });
  const most = rows[0]?.most ?? 0;
  // A separate statement, so that it sees what the previous holder of the lock has committed.
  const { rows: counted } = await tx.query<{ count: number }>({
    name: 'count_keys',
    text: `select count(*) from api_keys where company_id = $1 and ${LIVE}`,
    values: [companyId],
  });
  if ((counted[0]?.count ?? 0) < most) return;
  throw new ApiError(
    'LIMIT_REACHED',
    `The company has ${most} API keys that are neither revoked nor expired, as many as it may. Revoke one that is not needed, or ask the operator for more.`,
  );
}

/** Keys that count towards the limit. Those of inactive users do, because the user may become active again. */
const LIVE = 'revoked_at is null and (expires_at is null or expires_at > now())';

const REVOKED_KEPT = 30;
const PURGED_AT_ONCE = 500;

export async function purgeRevokedKeys(db: Queryable): Promise<number> {
  for (let purged = 0; ; ) {
    const { rowCount } = await db.query({
      name: 'purge_revoked_keys',
      text: `delete from api_keys where id in (select id from api_keys where revoked_at < now() - interval '${REVOKED_KEPT} days' and ${notFreezing('api_keys.company_id')}
        order by revoked_at limit ${PURGED_AT_ONCE} for update skip locked)`,
    });
    purged += rowCount;
    if (rowCount < PURGED_AT_ONCE) return purged;
  }
}

export async function selectKeys(db: Queryable, companyId: string): Promise<KeyAccount[]> {
  const { rows } = await db.query<Row>({
    name: 'select_keys',
    text: `select ${COLUMNS} from api_keys k join users u on u.id = k.user_id where k.company_id = $1 order by k.created_at, k.id`,
    values: [companyId],
  });
  return rows.map(keyOf);
}

export async function lockKey(tx: Queryable, id: string): Promise<KeyAccount | undefined> {
  const { rows } = await tx.query<Row>({
    name: 'lock_key',
    text: `select ${COLUMNS} from api_keys k join users u on u.id = k.user_id where k.id = $1 for update of k`,
    values: [id],
  });
  return rows[0] && keyOf(rows[0]);
}

/** Revokes a key, unless it is revoked already. Undefined if it does not exist. */
export async function revokeKey(tx: Queryable, id: string): Promise<KeyAccount | undefined> {
  const { rows } = await tx.query<Row>({
    name: 'revoke_key',
    text: `with k as (update api_keys set revoked_at = coalesce(revoked_at, now()) where id = $1 returning *)
      select ${COLUMNS} from k join users u on u.id = k.user_id`,
    values: [id],
  });
  return rows[0] && keyOf(rows[0]);
}

/** Gives a key a new value and returns it. Only its hash is stored. */
export async function replaceKeyValue(tx: Queryable, id: string): Promise<string> {
  const value = generateApiKey();
  const { keyPrefix, keySuffix } = apiKeyEnds(value);
  await tx.query({
    name: 'replace_key_value',
    text: 'update api_keys set hash = $2, key_prefix = $3, key_suffix = $4, last_used_at = null where id = $1',
    values: [id, hashApiKey(value), keyPrefix, keySuffix],
  });
  return value;
}
