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

/** What the watchdog reads, one JSON object a line. `folder` is deleted when everything has stopped. */
export type WatchdogMessage = { readonly add: Watched } | { readonly remove: number } | { readonly folder: string } | { readonly done: true };

/**
 * A small process of its own session that holds the reading end of a pipe whose writing end only this process has. The
 * pipe closes with this process, however it ends, and the watchdog then stops what it was told of.
 */
export class Watchdog {
  readonly #told = new Map<number, Watched>();
  #folder: string | undefined;
  #process: ChildProcess;
  #done = false;

  constructor() {
    this.#process = this.#launch();
  }

  add(watched: Watched): void {
    this.#told.set(watched.pid, watched);
    this.#tell({ add: watched });
  }

  remove(pid: number): void {
    if (this.#told.delete(pid)) this.#tell({ remove: pid });
  }

  /** Deleted after everything has stopped, when this process could not do it. */
  deleteAtEnd(folder: string): void {
    this.#folder = folder;
    this.#tell({ folder });
  }

  /** Everything was stopped in order: nothing is left to do. */
  done(): void {
    this.#done = true;
    this.#tell({ done: true });
    this.#process.stdin?.end();
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
    child.once('exit', () => {
      if (this.#done) return;
      this.#process = this.#launch();
      for (const add of this.#told.values()) this.#tell({ add });
      if (this.#folder !== undefined) this.#tell({ folder: this.#folder });
    });
    return child;
  }

  #tell(message: WatchdogMessage): void {
    this.#process.stdin?.write(`${JSON.stringify(message)}\n`);
  }
}
