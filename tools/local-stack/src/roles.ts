import { createHmac } from 'node:crypto';
import { databaseVariable, owners, type Owner } from '@truckroll/contract/components';
import pg from 'pg';
import { Problem } from './problem.ts';

export interface Provisioning {
  /** URL of an administrator: a superuser, or a role that may create roles and schemas. */
  readonly adminUrl: string;
  /** Created when missing. Default: the database of `adminUrl`. */
  readonly database?: string;
  /** The same as `adminUrl` for services that have a server of their own. Their databases must exist. */
  readonly own?: Partial<Record<Owner, string>>;
  /** The roles' passwords are derived from this, so that every checkout with the same secret derives the same ones. */
  readonly secret: string;
}

export interface Provisioned {
  /** URLs of the owners' roles. */
  readonly databaseUrls: Readonly<Record<Owner, string>>;
  /** URLs of administrators in the same databases. */
  readonly adminUrls: Readonly<Record<Owner, string>>;
}

/** Each owner's role owns the schema of its name and cannot enter any other. */
export async function provision({ adminUrl, database, own = {}, secret }: Provisioning): Promise<Provisioned> {
  const shared = database === undefined ? adminUrl : await createDatabase(adminUrl, database);
  const [adminUrls, databaseUrls] = [{} as Record<Owner, string>, {} as Record<Owner, string>];
  for (const schema of owners) {
    const url = new URL(own[schema] ?? shared);
    // A server that others use too keeps the passwords that they know.
    const known = own[schema] === undefined && database !== undefined ? secret : url.password || secret;
    const password = createHmac('sha256', known).update(`role ${schema}`).digest('hex');
    adminUrls[schema] = url.href;
    await within(
      url.href,
      async (client) => {
        // Two checkouts that share a server may start at the same time.
        await client.query(`select pg_advisory_lock(hashtext('truckroll roles'))`);
        await createRole(client, schema, password);
      },
      own[schema] === undefined ? undefined : databaseVariable(schema),
    );
    [url.username, url.password] = [schema, password];
    databaseUrls[schema] = url.href;
  }
  return { databaseUrls, adminUrls };
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

/** `variable` names the URL in errors. */
async function within(url: string, work: (client: pg.Client) => Promise<void>, variable = 'DATABASE_URL'): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'truckroll-local-stack' });
  // Without a listener, a lost connection would end the process. The statement that was running rejects anyway.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    throw new Problem(`PostgreSQL at ${new URL(url).host} refuses the connection (${(error as Error).message}): correct ${variable}.`);
  }
  try {
    await work(client);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== '42501') throw error;
    throw new Problem(
      `The user ${new URL(url).username} of ${variable} may not create roles and schemas (${error.message}): name a user that may, or leave ${variable} out.`,
    );
  } finally {
    await client.end();
  }
}
