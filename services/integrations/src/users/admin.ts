import { ApiError, messageJson, refused } from '@truckroll/contract';
import type {
  CreateUserRequest,
  CreateUserResponse,
  DeactivateUserRequest,
  DeactivateUserResponse,
  ListUsersRequest,
  ListUsersResponse,
  MoveUserRequest,
  MoveUserResponse,
  User,
} from '@truckroll/contract/gen/integrations/v1/admin';
import { isUniqueViolation, type Transaction } from '@truckroll/postgres';
import { erasedUsersAmong } from '../audit/erase-person.ts';
import { audit } from '../audit/store.ts';
import { refuseElsewhere } from '../companies/places.ts';
import { requireCompany } from '../companies/store.ts';
import type { Context } from '../context.ts';
import { forgetUser, type Pending } from '../identity/pending.ts';
import { checked } from '../requests.ts';
import { insertUser, lockUser, selectUsers, updateUser } from './store.ts';

async function create({ database }: Context, request: CreateUserRequest): Promise<CreateUserResponse> {
  const user = checked('CreateUserRequest', request);
  return await database.transaction(async (tx) => {
    await requireCompany(tx, user.company_id);
    const added = await insertUser(tx, user).catch(explain);
    await audit(tx, { ...auditedOf(added), action: 'user.created', after: stateOf(added) });
    return { user: added };
  });
}

async function list({ database }: Context, request: ListUsersRequest): Promise<ListUsersResponse> {
  const { company_id } = checked('ListUsersRequest', request);
  await requireCompany(database, company_id);
  return { users: await selectUsers(database, company_id) };
}

async function deactivate({ invalidations }: Context, request: DeactivateUserRequest): Promise<DeactivateUserResponse> {
  const { id } = checked('DeactivateUserRequest', request);
  return await invalidations.commit(async (tx) => {
    const before = await found(tx, id);
    const change = await changed(tx, before, before.company_id, false);
    await audit(tx, { ...auditedOf(before), action: 'user.deactivated', before: stateOf(before), after: stateOf(change.answer.user) });
    return change;
  });
}

async function move({ invalidations }: Context, request: MoveUserRequest): Promise<MoveUserResponse> {
  const { id, company_id } = checked('MoveUserRequest', request);
  return await invalidations.commit(async (tx) => {
    await requireCompany(tx, company_id);
    const before = await found(tx, id);
    await refuseErasedUser(tx, id);
    const change = await changed(tx, before, company_id, before.active);
    const after = change.answer.user;
    // One entry per company, because neither may see the other.
    await audit(tx, { ...auditedOf(before), action: 'user.left', before: stateOf(before) });
    await audit(tx, { ...auditedOf(after), action: 'user.joined', after: stateOf(after) });
    return change;
  });
}

async function found(tx: Transaction, id: string): Promise<User> {
  const user = await lockUser(tx, id);
  if (user === undefined) throw new ApiError('NOT_FOUND', 'There is no user with this id: see the ids with `truckroll user list`.');
  await refuseElsewhere(tx, user.company_id);
  return user;
}

/** The erasure belongs to the company that the user was in. The user's row is locked, as by a request to erase the user. */
async function refuseErasedUser(tx: Transaction, id: string): Promise<void> {
  if ((await erasedUsersAmong(tx, [id])).length === 0) return;
  const message = 'The user was erased, or is being erased, and stays in the company: add the person to the other company with `truckroll user create`.';
  throw new ApiError('INVALID_REQUEST', message, { status: 409 });
}

/** Invalidates the gateways' caches even if nothing changes, because operators repeat a call to make sure. */
async function changed(tx: Transaction, before: User, companyId: string, active: boolean): Promise<{ answer: { user: User }; pending: Pending[] }> {
  const same = before.company_id === companyId && before.active === active;
  const user = same ? before : await updateUser(tx, before.id, companyId, active).catch(explain);
  return { answer: { user }, pending: await forgetUser(tx, user.id) };
}

const stateOf = (user: User): string => messageJson('truckroll.integrations.v1.User', user, 'camel');
const auditedOf = ({ id, company_id }: User) => ({ companyId: company_id, object: { kind: 'users', id } });

function explain(error: unknown): never {
  if (isUniqueViolation(error, 'users_email')) throw refused('email', 'The company already has an active user with this e-mail address.');
  if (isUniqueViolation(error, 'users_subject')) throw refused('subject', 'Another user already has this subject: a subject belongs to one person.');
  throw error;
}

export const userAdmin = { createUser: create, listUsers: list, deactivateUser: deactivate, moveUser: move };
