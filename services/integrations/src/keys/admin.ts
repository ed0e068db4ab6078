import { ApiError, checkExpiry, messageJson, now, refused } from '@truckroll/contract';
import type {
  CreateKeyRequest,
  CreateKeyResponse,
  KeyAccount,
  ListKeysRequest,
  ListKeysResponse,
  RevokeKeyRequest,
  RevokeKeyResponse,
  RotateKeyRequest,
  RotateKeyResponse,
} from '@truckroll/contract/gen/integrations/v1/admin';
import { audit } from '../audit/store.ts';
import { refuseElsewhere } from '../companies/places.ts';
import { requireCompany } from '../companies/store.ts';
import type { Context } from '../context.ts';
import { forgetKey } from '../identity/pending.ts';
import { checked } from '../requests.ts';
import { lockActiveUser } from '../users/store.ts';
import { insertKey, replaceKeyValue, requireRoom, revokeKey, lockKey, selectKeys } from './store.ts';

async function create({ database }: Context, request: CreateKeyRequest): Promise<CreateKeyResponse> {
  const key = checked('CreateKeyRequest', request);
  for (const { message, code } of checkExpiry(key.expires_at, now())) throw refused('expires_at', message, code);
  return await database.transaction(async (tx) => {
    await requireCompany(tx, key.company_id);
    if (!(await lockActiveUser(tx, key.company_id, key.user_id))) {
      throw new ApiError('NOT_FOUND', 'The company has no active user with this id: see them with `truckroll user list`.');
    }
    await requireRoom(tx, key.company_id);
    const made = await insertKey(tx, key, 'OPERATOR');
    await audit(tx, { ...auditedOf(made.key), action: 'api_key.created', after: stateOf(made.key) });
    return made;
  });
}

async function list({ database }: Context, request: ListKeysRequest): Promise<ListKeysResponse> {
  const { company_id } = checked('ListKeysRequest', request);
  await requireCompany(database, company_id);
  return { keys: await selectKeys(database, company_id) };
}

/** Invalidates the gateways' caches even if the key was revoked before, because operators repeat a call to make sure. */
async function revoke({ invalidations }: Context, request: RevokeKeyRequest): Promise<RevokeKeyResponse> {
  const { id } = checked('RevokeKeyRequest', request);
  return await invalidations.commit(async (tx) => {
    const before = await lockKey(tx, id);
    if (before !== undefined) await refuseElsewhere(tx, before.company_id);
    const key = await revokeKey(tx, id);
    if (before === undefined || key === undefined) throw new ApiError('NOT_FOUND', 'There is no key with this id: see the ids with `truckroll key list`.');
    await audit(tx, { ...auditedOf(key), action: 'api_key.revoked', before: stateOf(before), after: stateOf(key) });
    return { answer: { key }, pending: await forgetKey(tx, id) };
  });
}

async function rotate({ invalidations }: Context, request: RotateKeyRequest): Promise<RotateKeyResponse> {
  const { id } = checked('RotateKeyRequest', request);
  return await invalidations.commit(async (tx) => {
    const before = await lockKey(tx, id);
    if (before === undefined || before.revoked_at != null) {
      throw new ApiError('NOT_FOUND', 'There is no key with this id that is not revoked: see them with `truckroll key list`.');
    }
    await refuseElsewhere(tx, before.company_id);
    // Before the change, because gateways know the key by the hash of its old value.
    const pending = await forgetKey(tx, id);
    const value = await replaceKeyValue(tx, id);
    const key = (await lockKey(tx, id)) as KeyAccount;
    await audit(tx, { ...auditedOf(key), action: 'api_key.rotated', before: stateOf(before), after: stateOf(key) });
    return { answer: { key, value }, pending };
  });
}

const stateOf = (key: KeyAccount): string => messageJson('truckroll.integrations.v1.KeyAccount', key, 'camel');
const auditedOf = ({ id, company_id }: KeyAccount) => ({ companyId: company_id, object: { kind: 'api-keys', id } });

export const keyAdmin = { createKey: create, listKeys: list, revokeKey: revoke, rotateKey: rotate };
