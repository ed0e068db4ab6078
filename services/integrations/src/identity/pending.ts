// What the gateways have to forget, stored with the change that makes them forget it. Every statement here runs in the
// transaction of that change, after it, so that no key or user which the change affects can be missed.
import type { Queryable } from '@truckroll/service-kit';

/** One message to the gateways and the cached answers that go with it. */
export interface Pending {
  readonly id: number;
  readonly subject: string;
  readonly entries: string[];
}

const KEY_ENTRY = `'truckroll:identity:key:' || encode(k.hash, 'hex')`;
/** A token names its user as the issuer does; both spellings are forgotten. */
const USER_ENTRIES = `select 'truckroll:identity:user:' || name || ':' || c from unnest(array[u.id::text, u.subject]) name`;

export async function forgetKey(tx: Queryable, keyId: string): Promise<Pending[]> {
  return await store(tx, 'forget_key', `select 'key:' || encode(k.hash, 'hex'), array[${KEY_ENTRY}] from api_keys k where k.id = $1`, [keyId]);
}

/** `companies`: those that the user belongs or belonged to. */
export async function forgetUser(tx: Queryable, userId: string, companies: readonly string[]): Promise<Pending[]> {
  const query = `select 'user:' || u.id, array(
      select ${KEY_ENTRY} from api_keys k where k.user_id = u.id
      union ${USER_ENTRIES}, unnest($2::uuid[]) c)
    from users u where u.id = $1`;
  return await store(tx, 'forget_user', query, [userId, companies]);
}

export async function forgetCompany(tx: Queryable, companyId: string): Promise<Pending[]> {
  const query = `select 'company:' || c.id, array(
      select ${KEY_ENTRY} from api_keys k where k.company_id = c.id
      union select e from users u, lateral (${USER_ENTRIES.replace('|| c ', '|| c.id ')}) entries (e) where u.company_id = c.id)
    from companies c where c.id = $1`;
  return await store(tx, 'forget_company', query, [companyId]);
}

async function store(tx: Queryable, name: string, query: string, values: readonly unknown[]): Promise<Pending[]> {
  const text = `insert into pending_invalidations (subject, entries) ${query} returning id, subject, entries`;
  return (await tx.query<Pending>({ name, text, values })).rows;
}

const MOST_AT_ONCE = 100;

/** The oldest that nobody else is publishing; they stay reserved until the transaction ends. */
export async function reservePending(tx: Queryable): Promise<Pending[]> {
  const { rows } = await tx.query<Pending>({
    name: 'reserve_pending',
    text: `select id, subject, entries from pending_invalidations order by id limit ${MOST_AT_ONCE} for update skip locked`,
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
