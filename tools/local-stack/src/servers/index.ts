import { join } from 'node:path';
import { requireSpace } from '../files.ts';
import { Ports } from '../ports.ts';
import { since, type Say } from '../say.ts';
import type { Watchdog } from '../processes/watchdog.ts';
import { requireAnswer } from './given.ts';
import { startKafka } from './kafka.ts';
import { PortTaken } from './launch.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import { LOOPBACK, type RunningServer, type ServerContext, type ServerName } from './server.ts';

/** Free space below which nothing is started, in bytes. */
const NEEDED_SPACE = 500e6;
const PORT_TRIES = 5;

export interface ServerOptions {
  /** Holds data folders and logs. */
  readonly folder: string;
  /** Of the folder's own unless given. */
  readonly ports?: Ports;
  readonly watchdog: Watchdog;
  readonly say: Say;
  /** Of PostgreSQL's administrator. */
  readonly password: string;
  /** Speed before safety, for data that ends with a test run. */
  readonly careless?: boolean;
  /** Where servers listen: an address of this machine, 127.0.0.1 unless given. */
  readonly address?: string;
  /** Where DATABASE_URL, REDIS_URL and KAFKA_BROKERS may name servers to use instead. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** All unless given. */
  readonly only?: ReadonlySet<ServerName>;
}

/** An address is empty where `only` leaves its server out. */
export interface Addresses {
  /** Of an administrator. */
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly kafkaBrokers: string;
}

export interface Servers extends Addresses {
  /** The ones that were started here, by name. */
  readonly running: ReadonlyMap<ServerName, RunningServer>;
  /** Starts a server that has died again, at the same address. */
  restart(name: ServerName): Promise<void>;
}

/** Servers that are being started. */
export interface StartingServers {
  /** Resolves to the address of one as soon as it can be used: of PostgreSQL an administrator's. */
  address(name: ServerName): Promise<string>;
  /** Resolves when all can be used. Rejects with the error of the first that failed, after the others have come up or failed too. */
  readonly all: Promise<Servers>;
}

/** Starts the servers that the environment does not name, side by side. The watchdog stops them, also those beside a failed one. */
export async function startServers(options: ServerOptions): Promise<Servers> {
  return await (await beginServers(options)).all;
}

/** The same, for whoever can go on as soon as some of them are there. Rejects where a server that the environment names does not answer. */
export async function beginServers(options: ServerOptions): Promise<StartingServers> {
  const { folder, ports = new Ports(join(folder, 'ports.json')), environment = {}, only, say, watchdog, careless = false, address: at = LOOPBACK } = options;
  const context: ServerContext = { folder, ports, say, watchdog, careless, address: at, logs: join(folder, 'logs') };
  const kinds = {
    // It takes longest.
    kafka: { title: 'Kafka', given: environment['KAFKA_BROKERS'], start: () => startKafka(context) },
    postgres: { title: 'PostgreSQL', given: environment['DATABASE_URL'], start: () => startPostgres({ ...context, password: options.password }) },
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
  await Promise.all(names.map(async (name) => kinds[name].given && requireAnswer(name, kinds[name].given)));
  const addresses = new Map(names.map((name) => [name, kinds[name].given ? Promise.resolve(kinds[name].given) : begin(name)]));
  const all = Promise.allSettled(addresses.values()).then(async (results): Promise<Servers> => {
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    const of = async (name: ServerName): Promise<string> => (await addresses.get(name)) ?? '';
    const [databaseUrl, redisUrl, kafkaBrokers] = await Promise.all([of('postgres'), of('redis'), of('kafka')]);
    return { databaseUrl, redisUrl, kafkaBrokers, running, restart: async (name) => void (await begin(name)) };
  });
  // Who waits for one of them alone hears of its failure there.
  all.catch(() => undefined);
  return { address: (name) => addresses.get(name)!, all };
}

/** Another process may take a port between the moment when it was found free and the one when the server binds it. */
async function retryingPorts(start: () => Promise<RunningServer>): Promise<RunningServer> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof PortTaken) || tries === PORT_TRIES) throw error;
    }
  }
}
