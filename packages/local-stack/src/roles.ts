import { createHmac } from 'node:crypto';
import { createSession, type Session } from '@truckroll/service-kit';
import { Problem } from './problem.ts';

/** Each owns the schema of its name and may enter no other. */
export const SCHEMAS = ['scheduling', 'billing', 'reporting', 'integrations'] as const;
export type Schema = (typeof SCHEMAS)[number];

export interface Provisioning {
  /** Of an administrator: the server's own, or a role that may create roles and schemas. */
  readonly adminUrl: string;
  /** Made when it is missing; without it the URL's own database is used as it is. */
  readonly database?: string;
  /** What the roles' passwords are derived from, so that every checkout with this secret derives the same ones. */
  readonly secret: string;
}

/** Makes roles and schemas where they are missing. Resolves to each role's URL. */
export async function provision(options: Provisioning): Promise<Readonly<Record<Schema, string>>> {
  const url = new URL(options.adminUrl);
  if (options.database !== undefined) {
    await within(url.href, (session) => createDatabase(session, options.database!));
    url.pathname = `/${options.database}`;
  }
  const secret = options.database === undefined ? url.password || options.secret : options.secret;
  const passwords = SCHEMAS.map((schema) => [schema, createHmac('sha256', secret).update(`role ${schema}`).digest('hex')] as const);
  await within(url.href, async (session) => {
    // Two checkouts that share a server may start at once.
    await session.query({ text: `select pg_advisory_lock(hashtext('truckroll roles'))` });
    for (const [schema, password] of passwords) await createRole(session, schema, password);
  });
  const urls = passwords.map(([schema, password]) => {
    const own = new URL(url);
    own.username = schema;
    own.password = password;
    return [schema, own.href] as const;
  });
  return Object.fromEntries(urls) as Record<Schema, string>;
}

async function createDatabase(session: Session, name: string): Promise<void> {
  const { rowCount } = await session.query({ text: 'select from pg_database where datname = $1', values: [name] });
  if (rowCount === 0) await session.query({ text: `create database "${name}"` });
}

async function createRole(session: Session, role: Schema, password: string): Promise<void> {
  const { rowCount } = await session.query({ text: 'select from pg_roles where rolname = $1', values: [role] });
  await session.query({ text: `${rowCount === 0 ? 'create' : 'alter'} role ${role} login password '${password}'` });
  // Only a member of a role may give it a schema; superusers are members of all.
  await session.query({ text: `grant ${role} to current_user` });
  await session.query({ text: `create schema if not exists ${role} authorization ${role}` });
}

async function within(url: string, work: (session: Session) => Promise<void>): Promise<void> {
  const session = await createSession({ url }).catch((error: unknown) => {
    throw new Problem(`PostgreSQL at ${new URL(url).host} refuses the connection (${causeOf(error)}): correct DATABASE_URL.`);
  });
  try {
    await work(session);
  } catch (error) {
    if ((error as { sqlState?: string }).sqlState !== '42501') throw error;
    throw new Problem(
      `The user ${new URL(url).username} of DATABASE_URL may not create roles and schemas (${causeOf(error)}): name a user that may, or leave DATABASE_URL out.`,
    );
  } finally {
    await session.close();
  }
}

function causeOf(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error ? cause.message : message;
}
