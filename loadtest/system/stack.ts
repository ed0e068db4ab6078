// Backing servers of the benchmarks, with data that is kept between runs, and the processes under measurement.
import { join, resolve } from 'node:path';
import {
  Daemon,
  Problem,
  ROOT,
  STATE,
  Watchdog,
  choosePort,
  endLeftovers,
  lockState,
  readSecrets,
  say,
  serverEnvironment,
  startServers,
  type DaemonOptions,
  type Servers,
} from '@truckroll/local-stack';
import pg from 'pg';

const FOLDER = join(STATE, 'benchmarks');
const READY_MS = 60_000;

export interface Running {
  readonly pid: number;
  readonly port: number;
  readonly metricsPort: number;
  stop(): Promise<void>;
}

export interface Launch {
  readonly name: string;
  /** Absolute, or relative to this checkout. */
  readonly script: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Whether it has no separate metrics port and answers /readyz on its only port. */
  readonly onePort?: boolean;
}

type NodeOptions = (name: string) => string;

/** Everything that a benchmark starts. The watchdog stops it even if this process is killed. */
export class Stack {
  readonly databaseUrl: string;
  readonly #servers: Servers;
  readonly #watchdog: Watchdog;
  readonly #release: () => void;
  readonly folder: string;
  readonly #nodeOptions: NodeOptions | undefined;

  private constructor(folder: string, servers: Servers, watchdog: Watchdog, databaseUrl: string, release: () => void, nodeOptions?: NodeOptions) {
    this.folder = folder;
    this.#nodeOptions = nodeOptions;
    this.#servers = servers;
    this.#watchdog = watchdog;
    this.databaseUrl = databaseUrl;
    this.#release = release;
  }

  /** Uses servers that the environment names, and creates the database if it is missing. */
  static async start(database: string, folder = FOLDER, nodeOptions?: NodeOptions): Promise<Stack> {
    const lock = lockState(folder, 'a benchmark');
    const record = join(folder, 'processes.json');
    await endLeftovers(record);
    const watchdog = new Watchdog(record);
    try {
      const password = readSecrets(folder).databasePassword;
      const servers = await startServers({ folder, watchdog, say, password, environment: process.env });
      return new Stack(folder, servers, watchdog, await createDatabase(servers.databaseUrl, database), lock.release, nodeOptions);
    } catch (error) {
      await watchdog.stopAll();
      lock.release();
      throw error;
    }
  }

  /** Process id of Redis or Kafka; undefined if it was not started here. */
  pidOf(server: 'redis' | 'kafka'): number | undefined {
    return this.#servers.running.get(server)?.daemon.pid;
  }

  get environment(): Record<string, string> {
    return { ...serverEnvironment(this.#servers), DATABASE_URL: this.databaseUrl };
  }

  async launch({ name, script, args = [], env = {}, onePort = false }: Launch): Promise<Running> {
    const port = await choosePort();
    const metricsPort = onePort ? port : await choosePort(new Set([port]));
    const settings = {
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      ...this.#nodeOptionsOf(name),
      ...this.environment,
      ...env,
    };
    const daemon = this.#start(
      { name, script, args, env: settings },
      { order: name === 'gateway' ? 'gateway' : 'service', stopSignal: 'SIGTERM', graceMs: 20_000 },
    );
    await ready(daemon, `http://127.0.0.1:${metricsPort}/readyz`, this.#log(name));
    return { pid: daemon.pid as number, port, metricsPort, stop: async () => void (await daemon.stop()) };
  }

  /** Starts a program that serves no requests. It is killed when stopped. */
  startClient(client: Omit<Launch, 'onePort'>): Daemon {
    return this.#start(client, { order: 'gateway', stopSignal: 'SIGKILL', graceMs: 1000 });
  }

  #start({ name, script, args = [], env }: Omit<Launch, 'onePort'>, how: Pick<DaemonOptions, 'order' | 'stopSignal' | 'graceMs'>): Daemon {
    return new Daemon({
      name,
      command: process.execPath,
      args: [resolve(ROOT, script), ...args],
      env: { ...process.env, ...env },
      log: this.#log(name),
      watchdog: this.#watchdog,
      ...how,
    });
  }

  /** Added to this process's own NODE_OPTIONS, such as a profiler's. */
  #nodeOptionsOf(name: string): Record<string, string> {
    if (this.#nodeOptions === undefined) return {};
    return { NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} ${this.#nodeOptions(name)}`.trim() };
  }

  #log(name: string): string {
    return join(this.folder, 'logs', `${name}.log`);
  }

  async close(): Promise<void> {
    await this.#watchdog.stopAll();
    this.#release();
  }
}

async function ready(daemon: Daemon, url: string, log: string): Promise<void> {
  const deadline = performance.now() + READY_MS;
  while (daemon.running && performance.now() < deadline) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Problem(`${daemon.name} did not become ready: see ${log}.`);
}

async function createDatabase(adminUrl: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount === 0) await client.query(`create database ${name}`);
  } finally {
    await client.end();
  }
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return url.href;
}
