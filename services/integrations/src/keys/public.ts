// API keys as managed by a company's users (decisions §8).
import { ApiError, checkExpiry, messageJson, now, refuseBroken } from '@truckroll/contract';
import type {
  ApiKey,
  CreateApiKeyRequest,
  CreateApiKeyResponse,
  DeleteApiKeyRequest,
  DeleteApiKeyResponse,
  ListApiKeysRequest,
  ListApiKeysResponse,
  RotateApiKeyRequest,
  RotateApiKeyResponse,
} from '@truckroll/contract/gen/integrations/v1/api_keys';
import { CreatorKind } from '@truckroll/contract/gen/integrations/v1/people';
import type { Caller } from '@truckroll/contract/gen/type/v1/type';
import type { Queryable } from '@truckroll/postgres';
import { audit } from '../audit/store.ts';
import type { Context } from '../context.ts';
import { forgetKey } from '../identity/pending.ts';
import { CREATOR_COLUMNS, creatorOf, type CreatorRow } from '../people.ts';
import { callerOf, checked, companyOf } from '../requests.ts';
import { lockActiveUser } from '../users/store.ts';
import { insertKey, replaceKeyValue, requireRoom, revokeKey } from './store.ts';

type Row = Omit<ApiKey, 'created_by'> & CreatorRow & { kind: 'USER' | 'OPERATOR' };

const noKey = (): ApiError => ApiError.notFound('API key');

async function list({ database }: Context, request: ListApiKeysRequest): Promise<ListApiKeysResponse> {
  const companyId = companyOf(request);
  return { data: await select(database.of(companyId), companyId) };
}

async function create({ database }: Context, request: CreateApiKeyRequest): Promise<CreateApiKeyResponse> {
  const { company_id, user_id } = callerOf(request);
  const { name, expires_at } = checked('CreateApiKeyRequest', request);
  refuseBroken(checkExpiry(expires_at, now()));
  return await database.of(company_id).transaction(async (tx) => {
    if (!(await lockActiveUser(tx, company_id, user_id))) throw ApiError.notFound('active user');
    await requireRoom(tx, company_id);
    const { key, value } = await insertKey(tx, { company_id, user_id, name, expires_at: expires_at ?? null, limits: null }, 'USER');
    const [made] = await select(tx, company_id, key.id);
    await audit(tx, { ...audited(request, key.id), action: 'api_key.created', after: stateOf(made as ApiKey) });
    return { data: { ...(made as ApiKey), key: value } };
  });
}

async function remove({ database, invalidations }: Context, request: DeleteApiKeyRequest): Promise<DeleteApiKeyResponse> {
  const { company_id } = callerOf(request);
  const { id } = checked('DeleteApiKeyRequest', request);
  return await invalidations.commit(async (tx) => {
    const key = await lockOwn(tx, company_id, id);
    await revokeKey(tx, id);
    await audit(tx, { ...audited(request, id), action: 'api_key.revoked', before: stateOf(key) });
    return { answer: { data: key }, pending: await forgetKey(tx, id) };
  }, database.of(company_id));
}

async function rotate({ database, invalidations }: Context, request: RotateApiKeyRequest): Promise<RotateApiKeyResponse> {
  const { company_id } = callerOf(request);
  const { id } = checked('RotateApiKeyRequest', request);
  return await invalidations.commit(async (tx) => {
    const before = await lockOwn(tx, company_id, id);
    // Before the change, because gateways know the key by the hash of its old value.
    const pending = await forgetKey(tx, id);
    const value = await replaceKeyValue(tx, id);
    const [key] = await select(tx, company_id, id);
    await audit(tx, { ...audited(request, id), action: 'api_key.rotated', before: stateOf(before), after: stateOf(key as ApiKey) });
    return { answer: { data: { ...(key as ApiKey), key: value } }, pending };
  }, database.of(company_id));
}

const stateOf = (key: ApiKey): string => messageJson('truckroll.integrations.v1.ApiKey', key, 'camel');

function audited(request: { caller?: Caller | null | undefined }, id: string) {
  const caller = callerOf(request);
  return { caller, companyId: caller.company_id, object: { kind: 'api-keys', id } };
}

/** Locks the company's key until the transaction ends: concurrent changes of a key run one after the other. Errors: 404. */
async function lockOwn(tx: Queryable, companyId: string, id: string): Promise<ApiKey> {
  await tx.query({ name: 'lock_api_key', text: 'select from api_keys where company_id = $1 and id = $2 for update', values: [companyId, id] });
  const [key] = await select(tx, companyId, id);
  if (key === undefined) throw noKey();
  return key;
}

/** The company's keys that are not revoked, oldest first, or the one with the id. */
async function select(db: Queryable, companyId: string, id: string | null = null): Promise<ApiKey[]> {
  const { rows } = await db.query<Row>({
    name: 'select_api_keys',
    text: `select k.id, k.name, k.key_prefix, k.key_suffix, k.created_at, k.last_used_at, k.expires_at, k.created_by_kind as kind, ${CREATOR_COLUMNS}
      from api_keys k join users u on u.id = k.user_id
      where k.company_id = $1 and k.revoked_at is null and ($2::uuid is null or k.id = $2) order by k.created_at, k.id`,
    values: [companyId, id],
  });
  return rows.map(({ kind, user_id, email, first_name, last_name, ...key }) => ({
    ...key,
    created_by: creatorOf({ user_id, email, first_name, last_name }, CreatorKind[kind]),
  }));
}

export const apiKeys = { listApiKeys: list, createApiKey: create, deleteApiKey: remove, rotateApiKey: rotate };
