import { createHash, randomBytes } from 'node:crypto';
import { Database, createSession, migrate, type MigrationSet, type DatabaseSession } from '@truckroll/postgres';

/** Generous timeout, because a busy machine may be slow. */
const CONNECT_TIMEOUT_MS = 30_000;

/** Makes pg_notify refuse transactions that write: such a transaction holds a server-wide lock while it commits, so commits are serialized. */
const REFUSE_NOTIFYING_WRITES = `
  set allow_system_table_mods = on;
  alter function pg_catalog.pg_notify(text, text) rename to pg_notify_unchecked;
  create function pg_catalog.pg_notify(channel text, payload text) returns void language plpgsql as $$
  begin
    if pg_current_xact_id_if_assigned() is not null then
      raise exception 'a transaction that writes must not notify: use Transaction.notify';
    end if;
    perform pg_notify_unchecked(channel, payload);
  end $$;
  reset allow_system_table_mods`;

export type Schemas = Readonly<Record<string, readonly MigrationSet[]>>;

export interface TestDatabase {
  /** URL of a database that only this test uses, with a role that may do everything in it. */
  readonly url: string;
  drop(): Promise<void>;
}

/**
 * Clones a migrated template on the test run's PostgreSQL (DATABASE_URL, whose role must be allowed to create databases). Equal
 * migrations share one template, which is kept between runs. Test files may call this concurrently.
 */
export async function freshDatabase(schemas: Schemas): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  const admin = await createSession({ url: adminUrl(), statementTimeoutMs: 0, connectTimeoutMs: CONNECT_TIMEOUT_MS });
  try {
    // One at a time: PostgreSQL refuses to clone a database that has connections.
    await admin.query({ text: `select pg_advisory_lock(hashtext('truckroll test databases'))` });
    const template = await templateFor(admin, schemas);
    // Files are copied with a third of the work of logging each page, where nothing is flushed.
    await admin.query({ text: `create database ${name} template ${template} strategy file_copy` });
  } finally {
    await admin.close();
  }
  return { url: urlOf(name), drop: () => dropDatabase(name) };
}

/** A database for one service, with the pool for the code under test. `close` ends the pool and drops the database. */
export async function openFreshDatabase(
  { schema, migrations }: { readonly schema: string; readonly migrations: readonly MigrationSet[] },
  options: Partial<Database['options']> = {},
): Promise<{ database: Database; close(): Promise<void> }> {
  const fresh = await freshDatabase({ [schema]: migrations });
  const database = new Database({ url: fresh.url, schema, maxConnections: 4, ...options });
  return {
    database,
    async close() {
      await database.close();
      await fresh.drop();
    },
  };
}

async function templateFor(admin: DatabaseSession, schemas: Schemas): Promise<string> {
  const made = JSON.stringify([schemas, REFUSE_NOTIFYING_WRITES]);
  const template = `template_${createHash('sha256').update(made).digest('hex').slice(0, 16)}`;
  const found = await admin.query({ text: 'select from pg_database where datname = $1', values: [template] });
  if (found.rowCount > 0) return template;
  // Built under another name until it is complete, so that a killed run leaves no half-made template.
  const unfinished = `${template}_unfinished`;
  await admin.query({ text: `drop database if exists ${unfinished} with (force)` });
  await admin.query({ text: `create database ${unfinished}` });
  for (const [schema, sets] of Object.entries(schemas)) await migrate({ url: urlOf(unfinished), schema, sets });
  const own = await createSession({ url: urlOf(unfinished), connectTimeoutMs: CONNECT_TIMEOUT_MS });
  await own.query({ text: REFUSE_NOTIFYING_WRITES });
  await own.close();
  await admin.query({ text: `alter database ${unfinished} rename to ${template}` });
  return template;
}

async function dropDatabase(name: string): Promise<void> {
  const admin = await createSession({ url: adminUrl(), statementTimeoutMs: 0, connectTimeoutMs: CONNECT_TIMEOUT_MS });
  try {
    await admin.query({ text: `drop database if exists ${name} with (force)` });
  } finally {
    await admin.close();
  }
}

function adminUrl(): string {
  const url = process.env['DATABASE_URL'];
  if (url === undefined) throw new Error('DATABASE_URL is not set: run tests with npm test, which starts the servers');
  return url;
}

function urlOf(database: string): string {
  const url = new URL(adminUrl());
  url.pathname = `/${database}`;
  return url.href;
}
