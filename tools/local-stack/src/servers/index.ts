import { join } from 'node:path';
import { requireSpace } from '../files.ts';
import { Ports } from '../ports.ts';
import { Problem } from '../problem.ts';
import { since, type Say } from '../say.ts';
import type { Watchdog } from '../processes/watchdog.ts';
import { requireAnswer } from './given.ts';
import { startKafka } from './kafka.ts';
import { PortTaken } from './launch.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import { LOOPBACK, type RunningServer, type ServerContext, type ServerName } from './server.ts';

/** Minimum free disk space to start anything, in bytes. */
const NEEDED_SPACE = 500e6;
const PORT_TRIES = 5;

export interface ServerOptions {
  readonly folder: string;
  readonly ports?: Ports;
  readonly watchdog: Watchdog;
  readonly say: Say;
  readonly password: string;
  /** Trades durability for speed, for data that is deleted after a test run. */
  readonly careless?: boolean;
  /** Settings of PostgreSQL beyond the usual ones. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Address of this machine to listen on. Default: 127.0.0.1. */
  readonly address?: string;
  /** Variables (DATABASE_URL, REDIS_URL, KAFKA_BROKERS) that name servers to use instead. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly only?: ReadonlySet<ServerName>;
}

/** An address is empty when `only` excludes its server. */
export interface Addresses {
  /** URL of an administrator. */
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly kafkaBrokers: string;
}

export interface Servers extends Addresses {
  readonly running: ReadonlyMap<ServerName, RunningServer>;
  restart(name: ServerName): Promise<void>;
}

export interface StartingServers {
  /** Resolves to a server's address as soon as it can be used. PostgreSQL's is an administrator's. */
  address(name: ServerName): Promise<string>;
  /** Resolves when all can be used. Rejects with the first failure, after the others have started or failed too. */
  readonly all: Promise<Servers>;
}

/** Starts, in parallel, the servers that the environment does not name. The watchdog stops them, even when one failed to start. */
export async function startServers(options: ServerOptions): Promise<Servers> {
  return await (await beginServers(options)).all;
}

/** Like `startServers`, but before all servers are up. Rejects with every server that the environment names and that does not answer. */
export async function beginServers(options: ServerOptions): Promise<StartingServers> {
  const { folder, ports = new Ports(join(folder, 'ports.json')), environment = {}, only, say, watchdog, careless = false, address: at = LOOPBACK } = options;
  const context: ServerContext = { folder, ports, say, watchdog, careless, address: at, logs: join(folder, 'logs') };
  const kinds = {
    // First, because it takes longest.
    kafka: { title: 'Kafka', given: environment['KAFKA_BROKERS'], start: () => startKafka(context) },
    postgres: {
      title: 'PostgreSQL',
      given: environment['DATABASE_URL'],
      start: () => startPostgres({ ...context, password: options.password, settings: options.settings ?? {} }),
    },
    redis: { title: 'Redis', given: environment['REDIS_URL'], start: () => startRedis(context) },
  };
  const names = (Object.keys(kinds) as ServerName[]).filter((name) => only?.has(name) ?? true);
  const running = new Map<ServerName, RunningServer>();
  const begin = async (name: ServerName): Promise<string> => {
    const { title, start } = kinds[name];
    const startedAt = performance.now();
    const server = await retryingPorts(start);
    running.set(name, server);
    say(`${title} is ready on port ${server.port} after ${since(startedAt)}`);
    return server.url;
  };
  if (names.some((name) => !kinds[name].given)) requireSpace(folder, NEEDED_SPACE);
  const answers = await Promise.allSettled(names.map(async (name) => kinds[name].given && requireAnswer(name, kinds[name].given)));
  const problems = answers.filter((answer) => answer.status === 'rejected').map(({ reason }) => reason as Error);
  if (problems.length > 0) throw new Problem(problems.map(({ message }) => message).join('\n'));
  const addresses = new Map(names.map((name) => [name, kinds[name].given ? Promise.resolve(kinds[name].given) : begin(name)]));
  const all = Promise.allSettled(addresses.values()).then(async (results): Promise<Servers> => {
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    const of = async (name: ServerName): Promise<string> => (await addresses.get(name)) ?? '';
    const [databaseUrl, redisUrl, kafkaBrokers] = await Promise.all([of('postgres'), of('redis'), of('kafka')]);
    return { databaseUrl, redisUrl, kafkaBrokers, running, restart: async (name) => void (await begin(name)) };
  });
  // Callers that await only `address` see the failure there.
  all.catch(() => undefined);
  return { address: (name) => addresses.get(name)!, all };
}

/** Retries with a new port: another process may take a port after it was found free and before the server binds it. */
async function retryingPorts(start: () => Promise<RunningServer>): Promise<RunningServer> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof PortTaken) || tries === PORT_TRIES) throw error;
    }
  }
}
