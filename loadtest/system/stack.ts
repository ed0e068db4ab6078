// Backing servers of the benchmarks, with data that is kept between runs, and the processes under measurement.
import { join, resolve } from 'node:path';
import {
  Daemon,
  Problem,
  ROOT,
  STATE,
  Watchdog,
  choosePort,
  createDatabase,
  endLeftovers,
  lockState,
  readSecrets,
  say,
  serverEnvironment,
  startServers,
} from '@truckroll/local-stack';

const READY_MS = 60_000;

export interface Running {
  readonly pid: number;
  readonly port: number;
  readonly metricsPort: number;
  stop(): Promise<void>;
}

interface Launch {
  readonly name: string;
  /** Relative to the stack's checkout. */
  readonly script: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Whether it has no separate metrics port and answers /readyz on its only port. */
  readonly onePort?: boolean;
}

/** A folder with Truckroll's source and its packages, and the Node that runs it. */
export interface Checkout {
  readonly folder: string;
  readonly node: string;
}

interface StackOptions {
  /** Default: a folder of the database's name. */
  readonly folder?: string;
  /** Added, by program, to this process's own NODE_OPTIONS, such as a profiler's. */
  readonly nodeOptions?: (program: string) => string;
  /** Default: this one. */
  readonly checkout?: Checkout;
}

const THIS: Checkout = { folder: ROOT, node: process.execPath };

/** Everything that a benchmark starts. The watchdog stops it even if this process is killed. */
export interface Stack {
  readonly databaseUrl: string;
  readonly folder: string;
  /** Process id of Redis or Kafka; undefined if it was not started here. */
  pidOf(server: 'redis' | 'kafka'): number | undefined;
  launch(program: Launch): Promise<Running>;
  close(): Promise<void>;
}

/** Uses servers that the environment names, and creates the database if it is missing. */
export async function startStack(database: string, options: StackOptions = {}): Promise<Stack> {
  const { folder = join(STATE, 'benchmarks', database), nodeOptions, checkout = THIS } = options;
  const lock = lockState(folder, 'a benchmark');
  const record = join(folder, 'processes.json');
  await endLeftovers(record);
  const watchdog = new Watchdog(record);
  const close = async (): Promise<void> => {
    await watchdog.stopAll();
    lock.release();
  };
  try {
    const password = readSecrets(folder).databasePassword;
    const servers = await startServers({ folder, watchdog, say, password, environment: process.env });
    const databaseUrl = await createDatabase(servers.databaseUrl, database);
    const shared = { ...process.env, NODE_ENV: 'production', HOST: '127.0.0.1', ...serverEnvironment(servers), DATABASE_URL: databaseUrl };
    return {
      databaseUrl,
      folder,
      pidOf: (server) => servers.running.get(server)?.daemon.pid,
      async launch({ name, script, args = [], env, onePort = false }) {
        const port = await choosePort();
        const metricsPort = onePort ? port : await choosePort(new Set([port]));
        const extra = nodeOptions && { NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} ${nodeOptions(name)}`.trim() };
        const log = join(folder, 'logs', `${name}.log`);
        const daemon = new Daemon({
          name,
          command: checkout.node,
          args: [resolve(checkout.folder, script), ...args],
          env: { ...shared, PORT: String(port), METRICS_PORT: String(metricsPort), ...extra, ...env },
          log,
          watchdog,
          order: name === 'gateway' ? 'gateway' : 'service',
          stopSignal: 'SIGTERM',
          graceMs: 20_000,
        });
        await ready(daemon, `http://127.0.0.1:${metricsPort}/readyz`, log);
        return { pid: daemon.pid as number, port, metricsPort, stop: async () => void (await daemon.stop()) };
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
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
