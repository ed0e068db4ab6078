import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { identify } from './identity.ts';
import { LogTail } from './log-tail.ts';
import type { StopOrder } from './stop-in-order.ts';
import type { Watchdog } from './watchdog.ts';

export interface DaemonOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Whom it runs as, where that is not this process's user. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** Output is appended here; the file outlives both processes, so neither ever waits for or breaks the other. */
  readonly log: string;
  readonly order: StopOrder;
  readonly stopSignal: NodeJS.Signals;
  readonly graceMs: number;
  readonly watchdog: Watchdog;
  /** Whether it is a program of ours, which may tell through Node's channel that it serves. */
  readonly tells?: boolean;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** "exit code 1" or "SIGKILL". */
export function exitText(exit: Exit): string {
  return exit.signal ?? `exit code ${exit.code}`;
}

/** A log that has grown beyond this is kept once more under another name, in bytes. */
export const LONGEST_LOG = 64 << 20;

/** A process of its own session, out of reach of the terminal's Ctrl-C: it is stopped by us, in order, or by the watchdog. */
export class Daemon {
  readonly name: string;
  /** Resolves when the process has ended, for whatever reason. */
  readonly exited: Promise<Exit>;
  /** Resolves when it tells that it serves; never where it does not tell. */
  readonly told: Promise<unknown>;
  /** What it has printed since it was started. */
  readonly output: LogTail;
  readonly #options: DaemonOptions;
  readonly #child: ChildProcess;
  #stopping = false;

  constructor(options: DaemonOptions) {
    this.name = options.name;
    this.#options = options;
    mkdirSync(dirname(options.log), { recursive: true });
    if ((statSync(options.log, { throwIfNoEntry: false })?.size ?? 0) > LONGEST_LOG) renameSync(options.log, `${options.log}.1`);
    this.output = new LogTail(options.log);
    const log = openSync(options.log, 'a');
    this.#child = spawn(options.command, options.args, {
      detached: true,
      stdio: ['ignore', log, log, ...(options.tells === true ? (['ipc'] as const) : [])],
      env: options.env ?? process.env,
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...options.user,
    });
    closeSync(log);
    this.told = new Promise((resolve) => this.#child.once('message', resolve));
    this.exited = new Promise((resolve, reject) => {
      this.#child.once('error', (error) => (this.#child.pid === undefined ? reject(error) : undefined));
      this.#child.once('exit', (code, signal) => {
        options.watchdog.remove(this.#child.pid!);
        resolve({ code, signal });
      });
    });
    // Who waits for the exit hears of a failed launch; nobody has to wait.
    this.exited.catch(() => undefined);
    const identity = this.#child.pid === undefined ? undefined : identify(this.#child.pid);
    if (identity) options.watchdog.add({ ...identity, order: options.order, signal: options.stopSignal, graceMs: options.graceMs });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get running(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** True once stop was called: its end is no accident. */
  get stopping(): boolean {
    return this.#stopping;
  }

  /** Resolves when the output holds a match, and to false when the process ends without one. */
  async printed(pattern: RegExp): Promise<boolean> {
    const ended = this.exited.then(
      () => true,
      () => true,
    );
    for (;;) {
      if (pattern.test(this.output.text())) return true;
      if (await Promise.race([ended, this.output.changed().then(() => false)])) return pattern.test(this.output.text());
    }
  }

  /** Asks the process to end, kills it after the grace period, and resolves when it has ended. */
  async stop(): Promise<Exit> {
    this.#stopping = true;
    if (!this.running) return this.exited;
    this.#child.kill(this.#options.stopSignal);
    const late = setTimeout(() => this.#child.kill('SIGKILL'), this.#options.graceMs);
    try {
      return await this.exited;
    } finally {
      clearTimeout(late);
    }
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}
