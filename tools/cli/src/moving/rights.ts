// Whether the roles of a move may do what it does (docs/how-to/move-a-company.md). None needs to be a superuser.
import { owners } from '@truckroll/contract';
import { parseDatabaseUrl } from '@truckroll/postgres';
import type { Cell } from './cells.ts';

/** Where the other cell's PostgreSQL reads what changes here, with which role and password. */
export const sourceUrl = ({ session, url }: Cell): string => session.secret('FROM_DATABASE_URL') ?? url;

export async function problemsOfRights(from: Cell, to: Cell): Promise<string[]> {
  return [...(await problemsOfRole(from)), ...(await problemsOfRole(to)), ...(await problemsOfSource(from)), ...(await problemsOfTarget(to, sourceUrl(from)))];
}

/**
 * Only an owner may publish a table, and only who may become the owner has rows stored in it by a subscription. Both sides delete rows as a
 * replica does.
 */
async function problemsOfRole({ title, db }: Cell): Promise<string[]> {
  const { rows } = await db.query<{ role: string; owners: string[]; replica: boolean }>({
    text: `select current_user::text as role, has_parameter_privilege('session_replication_role', 'set') as replica,
        array(select distinct pg_get_userbyid(c.relowner)::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where n.nspname = any($1) and c.relkind in ('r', 'p') and not (pg_has_role(c.relowner, 'usage') and pg_has_role(c.relowner, 'set'))) as owners`,
    values: [owners],
  });
  const { role, owners: strangers, replica } = rows[0]!;
  return named([
    ...strangers.map((owner) => [true, `In ${title}, the role ${role} is no member of ${owner}, which owns tables: grant ${owner} to ${role}.`] as const),
    [!replica, `In ${title}, the role ${role} may not write as a replica: grant set on parameter session_replication_role to ${role}.`],
  ]);
}

async function problemsOfSource(from: Cell): Promise<string[]> {
  const { user } = credentialsOf(sourceUrl(from));
  const { rows } = await from.db.query<{ replicates: boolean; creates: boolean; reads: boolean | null; ends: boolean | null }>({
    text: `select (select rolreplication or rolsuper from pg_roles where rolname = current_user) as replicates,
        has_database_privilege(current_database(), 'create') as creates,
        (select rolreplication or rolsuper from pg_roles where rolname = $1) as reads,
        (select pg_has_role(oid, 'usage') from pg_roles where rolname = $1) as ends`,
    values: [user],
  });
  const { replicates, creates, reads, ends } = rows[0]!;
  return named([
    [!replicates, 'The role of DATABASE_URL may not replicate: alter role … replication.'],
    [!creates, 'The role of DATABASE_URL may not create a publication: grant create on database … to it.'],
    [replicates && user !== '' && reads !== true, `The role ${user} of FROM_DATABASE_URL may not replicate: alter role ${user} replication.`],
    [ends === false, `The role of DATABASE_URL may not end what ${user} of FROM_DATABASE_URL reads: grant ${user} to it.`],
  ]);
}

async function problemsOfTarget({ db }: Cell, url: string): Promise<string[]> {
  const { rows } = await db.query<{ superuser: boolean; subscribes: boolean }>({
    text: `select (select rolsuper from pg_roles where rolname = current_user) as superuser,
        pg_has_role('pg_create_subscription', 'usage') and has_database_privilege(current_database(), 'create') as subscribes`,
  });
  const { superuser, subscribes } = rows[0]!;
  const { user, password } = credentialsOf(url);
  return named([
    [!subscribes, 'The role of TO_DATABASE_URL may not subscribe: grant pg_create_subscription to it, and create on the database.'],
    [
      !superuser && (user === '' || password === ''),
      "FROM_DATABASE_URL names no user or no password, so the other cell's PostgreSQL cannot read with it: postgres://user:password@host/database.",
    ],
  ]);
}

function credentialsOf(text: string): { user: string; password: string } {
  const { username, password } = new URL(parseDatabaseUrl(text)?.urls[0] ?? text);
  return { user: decodeURIComponent(username), password };
}

const named = (problems: readonly (readonly [boolean, string])[]): string[] => problems.flatMap(([is, text]) => (is ? [text] : []));
