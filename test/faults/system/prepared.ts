// Servers that may be killed, and the environments that `npm start` would give the processes of a system on them.
import { join } from 'node:path';
import { parseCallCredential, type CallCredential, type Channel } from '@truckroll/grpc';
import { STATE, Watchdog, Ports, choosePort, provision, readSecrets, runFolder, silent, startServers, type Say, type Servers } from '@truckroll/local-stack';
import { Database } from '@truckroll/postgres';
import { silentLog } from '@truckroll/telemetry';
import { createKafka, type KafkaClient } from '../../../packages/outbox/src/index.ts';
import { plan, type StartPlan } from '../../../tools/local-stack/src/start/plan.ts';
import { startPooler, type Pooler } from './pooler.ts';
import { createIssuer, type Issuer } from '../../support/tokens.ts';

export interface Running {
  readonly baseUrl: string;
  /** Administrator access; statements must name schema and table. */
  readonly database: Database;
  readonly kafka: KafkaClient;
  readonly issuer: Issuer;
  channel(name: string): Channel;
  /** Processes that ended without being stopped. */
  readonly accidents: readonly string[];
}

export interface Prepared {
  readonly folder: string;
  readonly logs: string;
  readonly watchdog: Watchdog;
  readonly servers: Servers;
  readonly plan: StartPlan;
  readonly pooler: Pooler | undefined;
  readonly environment: NodeJS.ProcessEnv;
  readonly credentials: readonly CallCredential[];
  readonly database: Database;
  readonly operator: Readonly<Record<'DATABASE_URL' | 'KAFKA_BROKERS', string>>;
  readonly kafka: KafkaClient;
  readonly issuer: Issuer;
  close(): Promise<void>;
}

/** Separate servers for this run, even if the environment names some. `environment` replaces that of `npm start`. With `pooled`, services use PgBouncer. */
export async function prepare(say: Say, environment: Readonly<Record<string, string>> = {}, pooled = false): Promise<Prepared> {
  const folder = runFolder('fault-runs');
  const watchdog = new Watchdog();
  watchdog.deleteAtEnd(folder);
  const issuer = createIssuer();
  try {
    const ports = new Ports(join(folder, 'ports.json'));
    const secrets = readSecrets(folder);
    let verbose = true;
    // Not `careless`: an acknowledged commit must survive the death of its server.
    const servers = await startServers({ folder, ports, watchdog, password: secrets.databasePassword, say: (line) => void (verbose && say(line)) });
    verbose = false;
    const databaseUrls = await provision({ adminUrl: servers.databaseUrl, secret: secrets.databasePassword, database: 'truckroll' });
    const { TOKEN_ISSUER, TOKEN_AUDIENCE, TOKEN_JWKS_FILE } = issuer.environment as Record<string, string>;
    const whole = await plan({
      state: folder,
      ports,
      say: silent,
      databaseUrls,
      redisUrl: servers.redisUrl,
      kafkaBrokers: servers.kafkaBrokers,
      secrets,
      tokens: { issuer: TOKEN_ISSUER!, audience: TOKEN_AUDIENCE!, jwksFile: TOKEN_JWKS_FILE! },
      environment: { LOG_LEVEL: 'warn', PORT: String(await choosePort()), ...environment },
    });
    const logs = join(folder, 'logs');
    const context = { folder, ports, logs, watchdog, say: silent, careless: true, address: '127.0.0.1' };
    const pooler = pooled ? await startPooler(context, servers.databaseUrl, databaseUrls) : undefined;
    const admin = new URL(servers.databaseUrl);
    admin.pathname = '/truckroll';
    const database = new Database({ url: admin.href, maxConnections: 2, statementTimeoutMs: 60_000 });
    return {
      folder,
      watchdog,
      servers,
      database,
      operator: { DATABASE_URL: admin.href, KAFKA_BROKERS: servers.kafkaBrokers },
      issuer,
      logs,
      plan: pooler === undefined ? whole : { ...whole, processes: whole.processes.map(pooler.through) },
      pooler,
      // The compile cache is shared by all runs, because processes are restarted often.
      environment: { ...process.env, NODE_OPTIONS: '', NODE_COMPILE_CACHE: join(STATE, 'compile-cache') },
      credentials: Object.values(secrets.callCredentials).map((text) => parseCallCredential(text)!),
      kafka: createKafka('faults', { kafkaBrokers: servers.kafkaBrokers.split(',') }, silentLog),
      async close() {
        await database.close();
        await watchdog.stopAll();
        issuer.close();
      },
    };
  } catch (error) {
    await watchdog.stopAll();
    issuer.close();
    throw error;
  }
}
