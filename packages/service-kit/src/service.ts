import { createComponent, type ComponentKit, type Service } from './component.ts';
import { Database, type DatabaseOptions } from './database.ts';
import { PoolerError, isUnavailable } from './database-errors.ts';
import type { CallerCheck } from './caller-check.ts';
import { createGrpcServer, type GrpcServer } from './grpc-server.ts';
import type { Logger } from './log.ts';
import { migrate, missingMigrations, type Schema } from './migrate.ts';
import { logOutage, retrying } from './retry.ts';
import { callerCheckOf, type BaseConfig, type ServerConfig } from './service-config.ts';

export interface ServiceKit<C> extends Omit<ComponentKit<C>, 'foundation'> {
  readonly server: GrpcServer;
  /** A pool with its schema. It is migrated, or waited for, before the service serves; checked for readiness; closed last. */
  database(options: DatabaseOptions & Schema): Database;
}

export interface ServiceOptions<C extends BaseConfig & Partial<ServerConfig>> {
  readonly name: string;
  readonly config: C;
  create(kit: ServiceKit<C>): void;
  readonly log?: Logger;
  /** Default: the contract's callers. Tests pass others. */
  readonly mayCall?: CallerCheck['mayCall'];
}

class SchemaBehind extends Error {
  override readonly name = 'SchemaBehind';
  constructor(schema: string, missing: readonly string[]) {
    super(`schema ${schema} lacks ${missing.join(', ')}: run truckroll migrate of this version, or set MIGRATE_AT_START=true`);
  }
}

export function createService<C extends BaseConfig & Partial<ServerConfig>>({ name, config, mayCall, create, log: given }: ServiceOptions<C>): Service {
  return createComponent({
    name,
    config,
    log: given,
    create({ foundation, ...kit }) {
      const { log, metrics, stopping, check } = kit;
      const server = createGrpcServer({
        log,
        metrics,
        maxConnectionAgeMs: config.maxConnectionAgeMs,
        callers: { ...callerCheckOf(config), mayCall },
        tls: config,
      });
      const unapplied = metrics.gauge('schema_migrations_missing', 'Migrations that this version needs and its schema lacks', ['schema']);

      /** Waits for PostgreSQL, and for migrations if the service does not run them itself, as long as it takes. */
      async function prepare(database: Database, { schema, migrations }: Schema): Promise<void> {
        const applied = await retrying(
          async () => {
            await database.session().then((session) => session.close());
            const changed = config.migrateAtStart ? await migrate({ ...database.options, schema, sets: migrations }) : [];
            await database.check();
            const missing = config.migrateAtStart ? [] : await missingMigrations(database, migrations);
            unapplied.set({ schema }, missing.length);
            if (missing.length > 0) throw new SchemaBehind(schema, missing);
            return changed;
          },
          (error, failures) => {
            if (error instanceof PoolerError) logOutage(log, 'waiting for a pooler that keeps sessions', failures, error);
            else if (error instanceof SchemaBehind) logOutage(log, 'waiting for migrations', failures, error);
            else if (isUnavailable(error)) logOutage(log, 'waiting for PostgreSQL', failures, error);
            else return false;
            return true;
          },
          stopping,
        );
        if (applied.length > 0) log.info({ schema, applied }, 'migrated the schema');
      }

      create({
        ...kit,
        server,
        database({ migrations, ...settings }) {
          const database = new Database({ applicationName: `truckroll-${name}`, metrics, ...settings });
          const { schema } = settings;
          foundation({ name: `database ${schema}`, start: () => prepare(database, { schema, migrations }), stop: () => database.close() });
          check(`database ${schema}`, () => database.check());
          check('DATABASE_SESSION_URL', () => database.checkSession());
          return database;
        },
      });
      return server;
    },
  });
}
