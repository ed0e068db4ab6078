// Whether the roles of a move may do what it does (docs/how-to/move-a-company.md). None needs to be a superuser.
import { owners } from '@truckroll/contract';
import { parseDatabaseUrl } from '@truckroll/postgres';
import type { Cell } from './cells.ts';
import { sourceUrl } from './reading.ts';

export async function problemsOfRights(from: Cell, to: Cell): Promise<string[]> {
  return [...(await problemsOfRole(from)), ...(await problemsOfRole(to)), ...(await problemsOfSource(from)), ...(await problemsOfTarget(to))];
}

/**
 * Only an owner may publish a table, and only who may become the owner has rows stored in it by a subscription. Both sides delete rows as a
 * replica does.
 */
async function problemsOfRole({ title, db }: Cell): Promise<string[]> {
  const { rows } = await db.query<{ role: string; owners: string[]; replica: boolean; looks: boolean }>({
    text: `select current_user::text as role, pg_has_role('pg_read_all_stats', 'usage') as looks,
        has_parameter_privilege('session_replication_role', 'set') as replica,
        array(select distinct pg_get_userbyid(c.relowner)::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where n.nspname = any($1) and c.relkind in ('r', 'p') and not (pg_has_role(c.relowner, 'usage') and pg_has_role(c.relowner, 'set'))) as owners`,
    values: [owners],
  });
  const { role, owners: strangers, replica, looks } = rows[0]!;
  return named([
    ...strangers.map((owner) => [true, `In ${title}, the role ${role} is no member of ${owner}, which owns tables: grant ${owner} to ${role}.`] as const),
    [!replica, `In ${title}, the role ${role} may not write as a replica: grant set on parameter session_replication_role to ${role}.`],
    [!looks, `In ${title}, the role ${role} does not see how old transactions of others are: grant pg_read_all_stats to ${role}.`],
  ]);
}

async function problemsOfSource(from: Cell): Promise<string[]> {
  const reader = decodeURIComponent(new URL(parseDatabaseUrl(sourceUrl(from))!.urls[0]).username);
  const { rows } = await from.db.query<{ replicates: boolean; creates: boolean; ends: boolean | null }>({
    text: `select (select rolreplication or rolsuper from pg_roles where rolname = current_user) as replicates,
        has_database_privilege(current_database(), 'create') as creates,
        (select pg_has_role(oid, 'usage') from pg_roles where rolname = $1) as ends`,
    values: [reader],
  });
  const { replicates, creates, ends } = rows[0]!;
  return named([
    [!replicates, 'The role of DATABASE_URL may not replicate: alter role … replication.'],
    [!creates, 'The role of DATABASE_URL may not create a publication: grant create on database … to it.'],
    [ends === false, `The role of DATABASE_URL may not end what ${reader} of FROM_DATABASE_URL reads: grant ${reader} to it.`],
  ]);
}

async function problemsOfTarget({ db, variable }: Cell): Promise<string[]> {
  const { rows } = await db.query<{ subscribes: boolean }>({
    text: `select pg_has_role('pg_create_subscription', 'usage') and has_database_privilege(current_database(), 'create') as subscribes`,
  });
  return named([[!rows[0]!.subscribes, `The role of ${variable} may not subscribe: grant pg_create_subscription to it, and create on the database.`]]);
}

export const named = (problems: readonly (readonly [boolean, string])[]): string[] => problems.flatMap(([is, text]) => (is ? [text] : []));
