import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { ProcessIdentity } from './identity.ts';

/** Stopped in this order: what uses others goes before what is used. */
export type StopOrder = 'gateway' | 'service' | 'server';

export interface Watched extends ProcessIdentity {
  readonly order: StopOrder;
  readonly signal: NodeJS.Signals;
  /** Milliseconds until a process that ignores the signal is killed. */
  readonly graceMs: number;
}

/** What the watchdog reads, one JSON object a line. A path is deleted when everything has stopped. */
export type WatchdogMessage = { readonly add: Watched } | { readonly remove: number } | { readonly deleteAtEnd: string };

/**
 * A small process of its own session that holds the reading end of a pipe whose writing end only this process has. The
 * pipe closes when this process wants everything stopped, and also when it ends in any other way: there is one way to
 * stop, and it does not need us.
 */
export class Watchdog {
  readonly #told = new Map<number, Watched>();
  readonly #paths = new Set<string>();
  #process: ChildProcess;
  #stopping = false;

  constructor() {
    this.#process = this.#launch();
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  add(watched: Watched): void {
    this.#told.set(watched.pid, watched);
    this.#tell({ add: watched });
  }

  remove(pid: number): void {
    if (this.#told.delete(pid)) this.#tell({ remove: pid });
  }

  /** A file or folder that must not outlive what is watched. */
  deleteAtEnd(path: string): void {
    this.#paths.add(path);
    this.#tell({ deleteAtEnd: path });
  }

  /** Stops the gateway, then the services, then the servers; resolves when all have ended. */
  async stopAll(): Promise<void> {
    this.#stopping = true;
    const child = this.#process;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.ref();
    child.stdin?.end();
    await exited;
  }

  #launch(): ChildProcess {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'watchdog-main.ts')], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    child.unref();
    (child.stdin as unknown as { unref(): void }).unref();
    child.stdin.on('error', () => undefined);
    // Somebody has killed it: without another one, nothing would be left to do its work.
    child.once('exit', () => {
      if (this.#stopping) return;
      this.#process = this.#launch();
      for (const add of this.#told.values()) this.#tell({ add });
      for (const deleteAtEnd of this.#paths) this.#tell({ deleteAtEnd });
    });
    return child;
  }

  #tell(message: WatchdogMessage): void {
    this.#process.stdin?.write(`${JSON.stringify(message)}\n`);
  }
}
