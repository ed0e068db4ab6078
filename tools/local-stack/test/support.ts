import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createSession } from '@truckroll/postgres';
import { Ports } from '../src/ports.ts';
import { Watchdog } from '../src/processes/watchdog.ts';
import type { RunningServer, ServerContext } from '../src/servers/server.ts';
import { silent } from '../src/say.ts';

/** Generous timeout, because a busy machine may be slow. */
const CONNECT_TIMEOUT_MS = 30_000;

interface Program {
  readonly child: ChildProcess;
  readonly said: () => string;
  readonly next: () => Promise<string>;
}

export class Scratch {
  readonly #folders: string[] = [];
  readonly #watchdogs: Watchdog[] = [];
  readonly #children: ChildProcess[] = [];

  folder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'truckroll-'));
    // PostgreSQL runs as another user when the tests run as root.
    chmodSync(folder, 0o755);
    this.#folders.push(folder);
    return folder;
  }

  watchdog(): Watchdog {
    const watchdog = new Watchdog();
    this.#watchdogs.push(watchdog);
    return watchdog;
  }

  /** The context that a server is started with. The same folder gives the same data and ports. */
  context(folder = this.folder()): ServerContext {
    const ports = new Ports(join(folder, 'ports.json'));
    return { folder, ports, logs: join(folder, 'logs'), watchdog: this.watchdog(), say: silent, careless: true, address: '127.0.0.1' };
  }

  /** Runs a program of test/programs in its own process. Returns the lines that it prints and its standard error. */
  program(name: string, ...args: string[]): Program {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'programs', name), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#children.push(child);
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return { child, said: () => said, next: async () => String((await lines.next()).value) };
  }

  async end(): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL');
    await Promise.all(this.#watchdogs.map((watchdog) => watchdog.stopAll()));
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

export async function sql<R = Record<string, unknown>>(url: string, text: string): Promise<R[]> {
  const session = await createSession({ url, connectTimeoutMs: CONNECT_TIMEOUT_MS });
  try {
    return (await session.query<R>({ text })).rows;
  } finally {
    await session.close();
  }
}

export async function kill(server: RunningServer): Promise<void> {
  server.daemon.kill('SIGKILL');
  await server.daemon.exited;
}

export async function occupant(port = 0): Promise<{ port: number; server: Server }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { server, port: (server.address() as AddressInfo).port };
}
