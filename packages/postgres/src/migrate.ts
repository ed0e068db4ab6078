import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import type { ConnectionOptions, Queryable } from './statement.ts';
import { StatementError } from './errors.ts';
import { LOCK_MS, isInSteps, runSteps, withTurns } from './migration-steps.ts';
import { createSession, type DatabaseSession } from './session.ts';

export interface Migration {
  /** Four digits and a name: `0001_invoices`. */
  readonly name: string;
  readonly sql: string;
}

/** Independently numbered migrations of one part of a schema: a service's tables, or those of a package it uses. */
export interface MigrationSet {
  readonly name: string;
  readonly migrations: readonly Migration[];
}

export interface DatabaseSchema {
  readonly schema: string;
  readonly migrations: readonly MigrationSet[];
}

export interface MigrateOptions extends Pick<ConnectionOptions, 'url' | 'sessionUrl'> {
  readonly schema: string;
  readonly sets: readonly MigrationSet[];
}

/** The database and the code do not match; the message says which file and what to do. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/** Interval at which a replica checks whether another has finished migrating, in ms. */
const TURN_MS = 100;
const UNDEFINED_TABLE = '42P01';
const FILE = /^(\d{4}_[a-z0-9_]+)\.sql$/;

/** Reads `NNNN_name.sql` files of a directory. Throws MigrationError for any other file or for a number used twice. */
export function migrationsIn(name: string, directory: URL): MigrationSet {
  const migrations = readdirSync(directory)
    .sort()
    .map((file): Migration => {
      const match = FILE.exec(file);
      if (match === null) throw new MigrationError(`${file} is not a migration: name it NNNN_what_it_does.sql`);
      return { name: match[1]!, sql: readFileSync(new URL(file, directory), 'utf8') };
    });
  const numbers = migrations.map((migration) => migration.name.slice(0, 4));
  const repeated = numbers.find((number, index) => numbers.indexOf(number) !== index);
  if (repeated !== undefined) throw new MigrationError(`two migrations of ${name} have the number ${repeated}: renumber the newer one`);
  return { name, migrations };
}

/**
 * Brings a schema to the state that this code needs: creates it if it is missing, then applies new migrations, each in its own transaction
 * or in steps. Replicas may start at once: one migrates, holding an advisory lock. A database that is ahead of the code is left unchanged,
 * so that old and new replicas can run together during an upgrade.
 * Returns the names applied. Errors: MigrationError; StatementError of a migration; ApiError 503.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const { url, sessionUrl, schema, sets } = options;
  const session = await createSession({ url, sessionUrl, schema, applicationName: `truckroll-migrate-${schema}`, statementTimeoutMs: 0 });
  try {
    await lock(session, schema);
    await createSchema(session, schema);
    await becomeOwner(session, schema);
    await createLedger(session);
    const applied: string[] = [];
    for (const set of sets) applied.push(...(await applySet(session, schema, set)));
    return applied;
  } finally {
    await session.close();
  }
}

/** Runs work in a session as the schema's owner; the URL's role only needs to be a member of it. Errors: as `createSession`. */
export async function asOwner<T>(options: Omit<MigrateOptions, 'sets'>, work: (session: DatabaseSession) => Promise<T>): Promise<T> {
  const session = await createSession({ ...options, applicationName: `truckroll-migrate-${options.schema}` });
  try {
    await becomeOwner(session, options.schema);
    return await work(session);
  } finally {
    await session.close();
  }
}

/** Polls for the lock: a replica that holds it and builds an index would wait for a statement that waits for the lock. */
async function lock(session: DatabaseSession, schema: string): Promise<void> {
  for (;;) {
    const { rows } = await session.query<{ locked: boolean }>({
      text: 'select pg_try_advisory_lock(hashtextextended($1, 0)) as locked',
      values: [`truckroll migrate ${schema}`],
    });
    if (rows[0]?.locked === true) return;
    await new Promise((resolve) => setTimeout(resolve, TURN_MS));
  }
}

async function createSchema(session: DatabaseSession, schema: string): Promise<void> {
  // Checked first: CREATE SCHEMA needs a privilege on the database even if IF NOT EXISTS finds the schema.
  const { rowCount } = await session.query({ text: 'select from pg_namespace where nspname = $1', values: [schema] });
  if (rowCount === 0) await session.query({ text: `create schema "${schema}"` });
}

/** If the migrating role is only a member of the schema's owner, acts as the owner, so that the owner owns new objects. */
async function becomeOwner(session: DatabaseSession, schema: string): Promise<void> {
  const { rows } = await session.query<{ owner: string }>({
    text: `select quote_ident(pg_get_userbyid(nspowner)) as owner from pg_namespace
      where nspname = $1 and nspowner <> current_user::regrole and pg_has_role(nspowner, 'member')`,
    values: [schema],
  });
  if (rows[0] !== undefined) await session.query({ text: `set role ${rows[0].owner}` });
}

async function createLedger(session: DatabaseSession): Promise<void> {
  await session.query({
    text: `create table if not exists migration (
      part text not null, name text not null, checksum text not null, applied_at timestamptz not null default now(),
      primary key (part, name))`,
  });
}

/** Migrations, such as `outbox/0001_outbox`, that this code needs and the schema lacks. None if it is ahead. Errors: ApiError 503. */
export async function missingMigrations(database: Queryable, sets: readonly MigrationSet[]): Promise<string[]> {
  const applied = new Set(
    await database.query<{ part: string; name: string }>({ text: 'select part, name from migration' }).then(
      ({ rows }) => rows.map(({ part, name }) => `${part}/${name}`),
      (error: unknown) => {
        if (error instanceof StatementError && error.sqlState === UNDEFINED_TABLE) return [];
        throw error;
      },
    ),
  );
  return sets.flatMap(({ name: part, migrations }) => migrations.map(({ name }) => `${part}/${name}`)).filter((name) => !applied.has(name));
}

async function applySet(session: DatabaseSession, schema: string, set: MigrationSet): Promise<string[]> {
  const { rows } = await session.query<{ name: string; checksum: string }>({
    text: 'select name, checksum from migration where part = $1 order by name',
    values: [set.name],
  });
  const applied = new Map(rows.map((row) => [row.name, row.checksum]));
  refuseMismatch(schema, set, applied);
  const fresh = set.migrations.filter((migration) => !applied.has(migration.name));
  for (const migration of fresh) await apply(session, set.name, migration);
  return fresh.map((migration) => migration.name);
}

/**
 * A migration yields to running services. While it waits for a table's lock everyone else queues behind it, and in a deadlock PostgreSQL
 * may abort either side. So its lock timeout is shorter than deadlock_timeout; it then rolls back and tries again after a pause.
 */
async function apply(session: DatabaseSession, part: string, migration: Migration): Promise<void> {
  const { name, sql } = migration;
  const noted = { text: 'insert into migration (part, name, checksum) values ($1, $2, $3)', values: [part, name, checksum(migration)] };
  if (isInSteps(sql)) {
    await runSteps(session, sql);
    await session.query(noted);
    return;
  }
  await withTurns(
    async () => {
      await session.query({ text: 'begin' });
      await session.query({ text: `set local lock_timeout = ${LOCK_MS}` });
      // Without values, pg sends a script as one simple query, which may hold many statements.
      await session.query({ text: sql });
      await session.query(noted);
      await session.query({ text: 'commit' });
    },
    async () => void (await session.query({ text: 'rollback' })),
  );
}

function refuseMismatch(schema: string, set: MigrationSet, applied: ReadonlyMap<string, string>): void {
  const newest = [...applied.keys()].at(-1);
  for (const migration of set.migrations) {
    const known = applied.get(migration.name);
    if (known === undefined && newest !== undefined && migration.name < newest) {
      throw new MigrationError(
        `migration ${migration.name} of ${set.name} is older than ${newest}, which schema ${schema} already has: give it the next free number`,
      );
    }
    if (known !== undefined && known !== checksum(migration)) {
      throw new MigrationError(
        `migration ${migration.name} of ${set.name} was edited after schema ${schema} had applied it: restore the file and put the change into a new migration`,
      );
    }
  }
  const last = set.migrations.at(-1)?.name ?? '';
  const names = new Set(set.migrations.map((migration) => migration.name));
  const missing = [...applied.keys()].find((name) => name < last && !names.has(name));
  if (missing !== undefined) {
    throw new MigrationError(`schema ${schema} has applied migration ${missing} of ${set.name}, which this code lacks: restore the file`);
  }
}

/** Ignores line endings, so that a checkout on another system has the same checksum. */
function checksum(migration: Migration): string {
  return createHash('sha256').update(migration.sql.replaceAll('\r\n', '\n')).digest('hex');
}
