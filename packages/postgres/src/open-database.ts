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
  const { name, metrics, foundation, check } = kit;
  const { schema } = settings;
  const unapplied = metrics.gauge('schema_migrations_missing', 'Migrations that this version needs and its schema lacks', ['schema']);
  const database = new Database({ applicationName: `truckroll-${name}`, metrics, ...settings });
  foundation({
    name: `database ${schema}`,
    start: () => prepare(kit, database, { schema, migrations }, (count) => unapplied.set({ schema }, count)),
    stop: () => database.close(),
  });
  check(`database ${schema}`, () => database.check());
  check('DATABASE_SESSION_URL', () => database.checkSession());
  return database;
}

/** Waits for PostgreSQL, and for migrations if the component does not run them itself, as long as it takes. */
async function prepare(
  { config, log, stopping }: Kit,
  database: Database,
  { schema, migrations }: DatabaseSchema,
  onMissing: (count: number) => void,
): Promise<void> {
  const applied = await retrying(
    async () => {
      await database.session().then((session) => session.close());
      const changed = config.migrateAtStart ? await migrate({ ...database.options, schema, sets: migrations }) : [];
      await database.check();
      const missing = config.migrateAtStart ? [] : await missingMigrations(database, migrations);
      onMissing(missing.length);
      if (missing.length > 0) throw new SchemaBehind(schema, missing);
      return changed;
    },
    (error, failures) => isWaitedFor(log, error, failures),
    stopping,
  );
  if (applied.length > 0) log.info({ schema, applied }, 'migrated the schema');
}

function isWaitedFor(log: Logger, error: unknown, failures: number): boolean {
  if (error instanceof PoolerError) logOutage(log, 'waiting for a pooler that keeps sessions', failures, error);
  else if (error instanceof SchemaBehind) logOutage(log, 'waiting for migrations', failures, error);
  else if (isUnavailable(error)) logOutage(log, 'waiting for PostgreSQL', failures, error);
  else return false;
  return true;
}
