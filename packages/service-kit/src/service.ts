import { Database, type DatabaseOptions } from './database.ts';
import { isUnavailable } from './database-errors.ts';
import type { CallerCheck } from './caller-check.ts';
import { createGrpcServer, type GrpcServer } from './grpc-server.ts';
import { createLog, type Logger } from './log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { migrate, missingMigrations, type Schema } from './migrate.ts';
import { logOutage, retrying } from './retry.ts';
import { callerCheckOf, stopLimitMs, type BaseConfig, type ServerConfig } from './service-config.ts';
import { startTelemetryServer, type ReadinessCheck, type TelemetryServer } from './telemetry-server.ts';
import { startTracing } from './tracing.ts';

/** Something that runs beside the calls: a relay, a consumer, a job. Started in order, stopped in reverse. */
export interface BackgroundPart {
  readonly name: string;
  /** Resolves when the service may answer calls; what depends on Kafka goes on connecting after that. */
  start(): Promise<void>;
  /** Finishes or abandons its work; what it leaves must be safe to take up again. */
  stop(): Promise<void>;
}

/** What a service is built from. */
export interface ServiceKit<C> {
  readonly name: string;
  readonly config: C;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly server: GrpcServer;
  /** A pool whose schema is migrated, or waited for, before the service serves, checked for readiness, and closed last. */
  database(options: DatabaseOptions & Schema): Database;
  background(part: BackgroundPart): void;
  /** The service is ready only while every check passes. */
  check(name: string, check: ReadinessCheck): void;
  /** Aborted when the service begins to stop: answers that have no end of their own end then. */
  readonly stopping: AbortSignal;
}

export interface ServiceOptions<C extends BaseConfig & Partial<ServerConfig>> {
  readonly name: string;
  readonly config: C;
  /** Puts the service together: pools, handlers, background parts. Does no I/O. */
  create(kit: ServiceKit<C>): void;
  readonly log?: Logger;
  /** Of the contract; tests give others. */
  readonly mayCall?: CallerCheck['mayCall'];
}

/** A service that can be started and destroyed, in its own process or in a test's. */
export interface Service {
  readonly name: string;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** After this long a stop that hangs is cut off, before the platform does it without a word. Milliseconds. */
  readonly stopLimitMs: number;
  /** Waits for PostgreSQL and for its schema as long as it takes. Resolves when calls are served, to the ports that were bound. */
  start(): Promise<{ port: number; metricsPort: number }>;
  /** NOT_SERVING, no new calls, running ones finish, background parts stop, pools close last. */
  destroy(): Promise<void>;
}

class SchemaBehind extends Error {
  override readonly name = 'SchemaBehind';
  constructor(schema: string, missing: readonly string[]) {
    super(`schema ${schema} lacks ${missing.join(', ')}: run truckroll migrate of this version, or set MIGRATE_AT_START=true`);
  }
}

export function createService<C extends BaseConfig & Partial<ServerConfig>>(options: ServiceOptions<C>): Service {
  const { name, config } = options;
  const log = options.log ?? createLog(name, config.logLevel);
  const metrics = createMetrics(name);
  const server = createGrpcServer({
    log, metrics, maxConnectionAgeMs: config.maxConnectionAgeMs, callers: { ...callerCheckOf(config), mayCall: options.mayCall }, tls: config,
  });
  const unapplied = metrics.gauge('schema_migrations_missing', 'Migrations that this version needs and its schema lacks', ['schema']);
  const databases: (Schema & { database: Database })[] = [];
  const parts: BackgroundPart[] = [];
  const started: BackgroundPart[] = [];
  const checks = new Map<string, ReadinessCheck>();
  const stopping = new AbortController();
  let serving = false;
  let starting: Promise<unknown> = Promise.resolve();
  let telemetry: TelemetryServer | undefined;
  let stopTracing = async () => undefined as void;

  checks.set('serving', () => {
    if (!serving) throw new Error('not serving');
  });
  options.create({
    name, config, log, metrics, server,
    stopping: stopping.signal,
    database({ migrations, ...settings }) {
      const database = new Database({ applicationName: `truckroll-${name}`, metrics, ...settings });
      databases.push({ database, schema: settings.schema, migrations });
      checks.set(`database ${settings.schema}`, () => database.check());
      return database;
    },
    background: (part) => void parts.push(part),
    check: (checkName, check) => void checks.set(checkName, check),
  });

  /** Waits for PostgreSQL, and where somebody else migrates also for them, as long as it takes. */
  async function prepare({ database, schema, migrations }: Schema & { database: Database }): Promise<void> {
    const applied = await retrying(
      async () => {
        const changed = config.migrateAtStart ? await migrate({ url: database.options.url, schema, sets: migrations }) : [];
        const missing = config.migrateAtStart ? [] : await missingMigrations(database, migrations);
        unapplied.set({ schema }, missing.length);
        if (missing.length > 0) throw new SchemaBehind(schema, missing);
        return changed;
      },
      (error, failures) => {
        if (!isUnavailable(error) && !(error instanceof SchemaBehind)) return false;
        logOutage(log, error instanceof SchemaBehind ? 'waiting for migrations' : 'waiting for PostgreSQL', failures, error);
        return true;
      },
      stopping.signal,
    );
    if (applied.length > 0) log.info({ schema, applied }, 'migrated the schema');
  }

  async function start(): Promise<{ port: number; metricsPort: number }> {
    stopTracing = await startTracing(name, config.otlpEndpoint);
    telemetry = await startTelemetryServer({ port: config.metricsPort, host: config.host, metrics, checks: () => checks });
    for (const each of databases) await prepare(each);
    const port = await server.listen(config.port, config.host);
    for (const part of parts) {
      stopping.signal.throwIfAborted();
      started.push(part);
      await part.start();
    }
    serving = true;
    server.setServing(true);
    log.info({ port, metricsPort: telemetry.port }, 'serving');
    return { port, metricsPort: telemetry.port };
  }

  async function stop(): Promise<void> {
    serving = false;
    server.setServing(false);
    stopping.abort(new Error(`${name} is stopping`));
    await starting.catch(() => undefined);
    await server.drain(config.drainMs, config.drainDelayMs);
    for (const part of started.toReversed()) {
      await part.stop().catch((error: unknown) => log.error({ error, part: part.name }, 'a background part failed to stop'));
    }
    for (const { database } of databases) await database.close();
    await telemetry?.close();
    await stopTracing();
    log.info({}, 'stopped');
  }

  let stopped: Promise<void> | undefined;
  return {
    name, log, metrics, stopLimitMs: stopLimitMs(config),
    start: () => {
      const running = start();
      starting = running;
      return running;
    },
    destroy: () => (stopped ??= stop()),
  };
}
