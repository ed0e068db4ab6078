import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { readJson, writeJson } from '../files.ts';
import { stopInOrder, type Watched } from './stop-in-order.ts';

/** Messages to the watchdog, one JSON object per line. `deleteAtEnd` is a path to delete when everything has stopped. */
export type WatchdogMessage = { readonly add: Watched } | { readonly remove: number } | { readonly deleteAtEnd: string };

/**
 * A small process in its own session that reads a pipe only this process writes to. The pipe closes when this process wants
 * everything stopped, and also when it dies in any way: there is one way to stop, and it works without this process.
 */
export class Watchdog {
  readonly #watched = new Map<number, Watched>();
  readonly #paths = new Set<string>();
  readonly #record: string | undefined;
  #process: ChildProcess;
  #stopping = false;

  /** `record` names a file that lists what runs, so that `endLeftovers` can stop it if the watchdog is killed as well. */
  constructor(record?: string) {
    this.#record = record;
    this.#process = this.#launch();
    if (record !== undefined) this.deleteAtEnd(record);
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  add(watched: Watched): void {
    this.#watched.set(watched.pid, watched);
    this.#send({ add: watched });
    this.#write();
  }

  remove(pid: number): void {
    if (!this.#watched.delete(pid)) return;
    this.#send({ remove: pid });
    this.#write();
  }

  deleteAtEnd(path: string): void {
    this.#paths.add(path);
    this.#send({ deleteAtEnd: path });
  }

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
    // The watchdog was killed: start another, or nothing would stop the processes.
    child.once('exit', () => {
      if (this.#stopping) return;
      this.#process = this.#launch();
      for (const add of this.#watched.values()) this.#send({ add });
      for (const deleteAtEnd of this.#paths) this.#send({ deleteAtEnd });
    });
    return child;
  }

  #send(message: WatchdogMessage): void {
    this.#process.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  #write(): void {
    if (this.#record !== undefined && !this.#stopping) writeJson(this.#record, [...this.#watched.values()]);
  }
}

/** Stops what an earlier start left running because it was killed together with its watchdog. */
export async function endLeftovers(record: string): Promise<void> {
  await stopInOrder(readJson<Watched[]>(record) ?? []);
}
