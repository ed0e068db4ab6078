import type { Queryable } from '@truckroll/postgres';

export interface Pending {
  readonly id: number;
  readonly subject: string;
}

/** Names the key by its hash, which is all that gateways know before they authenticate it. */
export async function forgetKey(tx: Queryable, keyId: string): Promise<Pending[]> {
  return await store(tx, 'forget_key', `select 'key:' || encode(hash, 'hex') from api_keys where id = $1`, keyId);
}

/** Includes the user's keys and tokens. */
export async function forgetUser(tx: Queryable, userId: string): Promise<Pending[]> {
  return await store(tx, 'forget_user', `select 'user:' || $1::uuid`, userId);
}

/** Includes the company's keys and users. */
export async function forgetCompany(tx: Queryable, companyId: string): Promise<Pending[]> {
  return await store(tx, 'forget_company', `select 'company:' || $1::uuid`, companyId);
}

async function store(tx: Queryable, name: string, query: string, id: string): Promise<Pending[]> {
  const text = `insert into pending_invalidations (subject) ${query} returning id, subject`;
  return (await tx.query<Pending>({ name, text, values: [id] })).rows;
}

const MOST_AT_ONCE = 100;

export async function anyPending(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ any: boolean }>({ name: 'any_pending', text: 'select exists (select from pending_invalidations) as any' });
  return rows[0]?.any === true;
}

/** The oldest invalidations that no other transaction has reserved. Reserves them until the transaction ends. */
export async function reservePending(tx: Queryable): Promise<Pending[]> {
  const { rows } = await tx.query<Pending>({
    name: 'reserve_pending',
    text: `select id, subject from pending_invalidations order by id limit ${MOST_AT_ONCE} for update skip locked`,
  });
  return rows;
}

export async function removePending(tx: Queryable, pending: readonly Pending[]): Promise<void> {
  await tx.query({
    name: 'remove_pending',
    text: 'delete from pending_invalidations where id = any($1::bigint[])',
    values: [pending.map(({ id }) => id)],
  });
}
