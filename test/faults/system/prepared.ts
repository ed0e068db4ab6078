// Servers that may be killed, and the environments that `npm start` would give the processes of a system on them.
import { join } from 'node:path';
import { addressVariable, databaseVariable, owners } from '@truckroll/contract';
import { parseCallCredential, type CallCredential, type Channel } from '@truckroll/grpc';
import { STATE, Watchdog, Ports, choosePort, provision, readSecrets, runFolder, silent, startServers, type Say, type Servers } from '@truckroll/local-stack';
import type { Database } from '@truckroll/postgres';
import { silentLog } from '@truckroll/telemetry';
import { createKafka, type KafkaClient } from '../../../packages/outbox/src/index.ts';
import { plan, type StartPlan } from '../../../tools/local-stack/src/start/plan.ts';
import { NONE, RoutedDatabase, startOwnServers, type OwnServers } from './own-servers.ts';
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
  readonly ownServers: OwnServers;
  readonly environment: NodeJS.ProcessEnv;
  readonly credentials: readonly CallCredential[];
  readonly database: Database;
  /** Settings of an operator's command line. */
  readonly operator: Readonly<Record<string, string>>;
  readonly kafka: KafkaClient;
  readonly issuer: Issuer;
  close(): Promise<void>;
}

export interface Layout {
  /** Services use PostgreSQL through PgBouncer. */
  readonly pooled?: boolean;
  /** Each service has a separate PostgreSQL. */
  readonly separate?: boolean;
  /** Its name among cells. Its topics begin with the name, and companies may move between its PostgreSQL and others. */
  readonly cell?: string;
  /** The cell whose Kafka, Redis, secrets and issuer it uses. */
  readonly beside?: Prepared | undefined;
}

/** Separate servers for this run, even if the environment names some. `environment` replaces that of `npm start`. */
export async function prepare(
  say: Say,
  environment: Readonly<Record<string, string>> = {},
  { pooled = false, separate = false, cell, beside }: Layout = {},
): Promise<Prepared> {
  const folder = runFolder(`${cell ?? 'fault'}-runs`);
  const watchdog = new Watchdog();
  watchdog.deleteAtEnd(folder);
  const issuer = beside?.issuer ?? createIssuer();
  try {
    const ports = new Ports(join(folder, 'ports.json'));
    const secrets = readSecrets(beside?.folder ?? folder);
    let verbose = true;
    // Not `careless`: an acknowledged commit must survive the death of its server.
    const servers = await startServers({
      folder,
      ports,
      watchdog,
      password: secrets.databasePassword,
      say: (line) => void (verbose && say(line)),
      ...(beside && { environment: { KAFKA_BROKERS: beside.servers.kafkaBrokers, REDIS_URL: beside.servers.redisUrl } }),
      ...(cell !== undefined && { settings: { wal_level: 'logical' } }),
    });
    verbose = false;
    const logs = join(folder, 'logs');
    const context = { folder, ports, logs, watchdog, say: silent, careless: true, address: '127.0.0.1' };
    const password = secrets.databasePassword;
    const ownServers = separate ? await startOwnServers({ ...context, careless: false, password }) : NONE;
    const { databaseUrls, adminUrls } = await provision({ adminUrl: servers.databaseUrl, own: ownServers.urls, secret: password, database: 'truckroll' });
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
    const pooler = pooled ? await startPooler(context, servers.databaseUrl, databaseUrls) : undefined;
    const url = adminUrls.integrations;
    const database = new RoutedDatabase({ url, maxConnections: 2, statementTimeoutMs: 60_000 }, ownServers.urls);
    const kafkaPrefix = cell === undefined ? '' : `${cell}.`;
    const ofCell = cell === undefined ? {} : { CELL: cell, KAFKA_PREFIX: kafkaPrefix };
    const addresses = owners.map((owner) => [addressVariable(owner), whole.addresses[owner]!]);
    const named = Object.entries(ownServers.urls).map(([owner, own]) => [databaseVariable(owner), own]);
    return {
      folder,
      watchdog,
      servers,
      database,
      ownServers,
      operator: {
        ...Object.fromEntries([...addresses, ...named]),
        CALL_CREDENTIAL: secrets.callCredentials.operator,
        DATABASE_URL: url,
        KAFKA_BROKERS: servers.kafkaBrokers,
        ...ofCell,
      },
      issuer,
      logs,
      plan: pooler === undefined ? whole : { ...whole, processes: whole.processes.map(pooler.through) },
      pooler,
      // The compile cache is shared by all runs, because processes are restarted often.
      environment: { ...process.env, NODE_OPTIONS: '', NODE_COMPILE_CACHE: join(STATE, 'compile-cache'), ...environment, ...ofCell },
      credentials: Object.values(secrets.callCredentials).map((text) => parseCallCredential(text)!),
      kafka: createKafka('faults', { kafkaBrokers: servers.kafkaBrokers.split(','), kafkaPrefix }, silentLog),
      async close() {
        await database.close();
        await watchdog.stopAll();
        if (beside === undefined) issuer.close();
      },
    };
  } catch (error) {
    await watchdog.stopAll();
    if (beside === undefined) issuer.close();
    throw error;
  }
}
