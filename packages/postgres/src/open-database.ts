import { logOutage, retrying, type ComponentKit } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';
import { Database, type DatabaseOptions } from './database.ts';
import { PoolerError, isUnavailable } from './errors.ts';
import { migrate, missingMigrations, type DatabaseSchema } from './migrate.ts';

class SchemaBehind extends Error {
  override readonly name = 'SchemaBehind';
  constructor(schema: string, missing: readonly string[]) {
    super(`schema ${schema} lacks ${missing.join(', ')}: run truckroll migrate of this version, or set MIGRATE_AT_START=true`);
  }
}

type Kit = ComponentKit<{ readonly migrateAtStart: boolean }>;

/** A pool with its schema. It is migrated, or waited for, before the component serves; checked for readiness; closed last. */
export function openDatabase(kit: Kit, { migrations, ...settings }: DatabaseOptions & DatabaseSchema): Database {
  const { name, config, log, metrics, foundation, check, stopping } = kit;
  const { schema } = settings;
  const unapplied = metrics.gauge('schema_migrations_missing', 'Migrations that this version needs and its schema lacks', ['schema']);
  const database = new Database({ applicationName: `truckroll-${name}`, metrics, ...settings });
  /** Rejects while PostgreSQL is unavailable, or lacks migrations that the component does not run itself. Returns the names applied. */
  const prepare = async (): Promise<string[]> => {
    await database.session().then((session) => session.close());
    const applied = config.migrateAtStart ? await migrate({ ...database.options, schema, sets: migrations }) : [];
    await database.check();
    const missing = config.migrateAtStart ? [] : await missingMigrations(database, migrations);
    unapplied.set({ schema }, missing.length);
    if (missing.length > 0) throw new SchemaBehind(schema, missing);
    return applied;
  };
  foundation({
    name: `database ${schema}`,
    start: async () => {
      const applied = await retrying(prepare, (error, failures) => isWaitedFor(log, error, failures), stopping);
      if (applied.length > 0) log.info({ schema, applied }, 'migrated the schema');
    },
    stop: () => database.close(),
  });
  check(`database ${schema}`, () => database.check());
  check('DATABASE_SESSION_URL', () => database.checkSession());
  return database;
}

function isWaitedFor(log: Logger, error: unknown, failures: number): boolean {
  if (error instanceof PoolerError) logOutage(log, 'waiting for a pooler that keeps sessions', failures, error);
  else if (error instanceof SchemaBehind) logOutage(log, 'waiting for migrations', failures, error);
  else if (isUnavailable(error)) logOutage(log, 'waiting for PostgreSQL', failures, error);
  else return false;
  return true;
}
