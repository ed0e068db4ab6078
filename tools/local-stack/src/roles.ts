import { createHmac } from 'node:crypto';
import { owners, type Owner } from '@truckroll/contract/components';
import pg from 'pg';
import { Problem } from './problem.ts';

export interface Provisioning {
  /** URL of an administrator: a superuser, or a role that may create roles and schemas. */
  readonly adminUrl: string;
  /** Created when missing. Default: the database of `adminUrl`. */
  readonly database?: string;
  /** The roles' passwords are derived from this, so that every checkout with the same secret derives the same ones. */
  readonly secret: string;
}

/** Each owner's role owns the schema of its name and cannot enter any other. */
export async function provision(options: Provisioning): Promise<Readonly<Record<Owner, string>>> {
  const url = new URL(options.adminUrl);
  if (options.database !== undefined) {
    url.href = await createDatabase(url.href, options.database);
  }
  const secret = options.database === undefined ? url.password || options.secret : options.secret;
  const passwords = owners.map((schema) => [schema, createHmac('sha256', secret).update(`role ${schema}`).digest('hex')] as const);
  await within(url.href, async (client) => {
    // Two checkouts that share a server may start at the same time.
    await client.query(`select pg_advisory_lock(hashtext('truckroll roles'))`);
    for (const [schema, password] of passwords) await createRole(client, schema, password);
  });
  const urls = passwords.map(([schema, password]) => {
    const own = new URL(url);
    own.username = schema;
    own.password = password;
    return [schema, own.href] as const;
  });
  return Object.fromEntries(urls) as Record<Owner, string>;
}

/** Creates the database if it is missing. Resolves to its URL. */
export async function createDatabase(adminUrl: string, name: string): Promise<string> {
  await within(adminUrl, async (client) => {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount === 0) await client.query(`create database "${name}"`);
  });
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function createRole(client: pg.Client, role: Owner, password: string): Promise<void> {
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [role]);
  await client.query(`${rowCount === 0 ? 'create' : 'alter'} role ${role} login password '${password}'`);
  // Only a member of a role may give it a schema; superusers are members of all roles.
  await client.query(`grant ${role} to current_user`);
  await client.query(`create schema if not exists ${role} authorization ${role}`);
}

async function within(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'truckroll-local-stack' });
  // Without a listener, a lost connection would end the process. The statement that was running rejects anyway.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    throw new Problem(`PostgreSQL at ${new URL(url).host} refuses the connection (${(error as Error).message}): correct DATABASE_URL.`);
  }
  try {
    await work(client);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== '42501') throw error;
    throw new Problem(
      `The user ${new URL(url).username} of DATABASE_URL may not create roles and schemas (${error.message}): name a user that may, or leave DATABASE_URL out.`,
    );
  } finally {
    await client.end();
  }
}
