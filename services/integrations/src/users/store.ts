import { randomUUID } from 'node:crypto';
import type { CreateUserRequest, User } from '@truckroll/contract/gen/integrations/v1/admin';
import type { Queryable } from '@truckroll/postgres';

const COLUMNS = 'id, company_id, subject, email, first_name, last_name, active, created_at, updated_at';

export async function insertUser(db: Queryable, user: CreateUserRequest): Promise<User> {
  const id = randomUUID();
  const { rows } = await db.query<User>({
    name: 'insert_user',
    text: `insert into users (id, company_id, subject, email, first_name, last_name)
      values ($1, $2, $3, $4, $5, $6) returning ${COLUMNS}`,
    values: [id, user.company_id, user.subject ?? id, user.email, user.first_name, user.last_name],
  });
  return rows[0] as User;
}

export async function selectUsers(db: Queryable, companyId: string): Promise<User[]> {
  const { rows } = await db.query<User>({
    name: 'select_users',
    text: `select ${COLUMNS} from users where company_id = $1 order by created_at, id`,
    values: [companyId],
  });
  return rows;
}

export async function lockUser(tx: Queryable, id: string): Promise<User | undefined> {
  const { rows } = await tx.query<User>({
    name: 'lock_user',
    text: `select ${COLUMNS} from users where id = $1 for update`,
    values: [id],
  });
  return rows[0];
}

/** Locks of a user: shared with other transactions, or for one at a time, for what is counted for each user. */
const USER_LOCKS = {
  shared: { name: 'lock_active_user', text: 'select from users where id = $1 and company_id = $2 and active for share' },
  alone: { name: 'lock_active_user_alone', text: 'select from users where id = $1 and company_id = $2 and active for no key update' },
};

/** Whether the user is active in the company. If so, locks the user until the transaction ends, so that it stays true. */
export async function lockActiveUser(tx: Queryable, companyId: string, id: string, lock: keyof typeof USER_LOCKS = 'shared'): Promise<boolean> {
  const { rowCount } = await tx.query({ ...USER_LOCKS[lock], values: [id, companyId] });
  return rowCount === 1;
}

export async function updateUser(tx: Queryable, id: string, companyId: string, active: boolean): Promise<User> {
  const { rows } = await tx.query<User>({
    name: 'update_user',
    text: `update users set company_id = $2, active = $3, updated_at = now() where id = $1 returning ${COLUMNS}`,
    values: [id, companyId, active],
  });
  return rows[0] as User;
}
