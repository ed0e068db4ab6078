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
  /** The user to run as, when it is not this process's user. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** Output is appended to this file rather than piped, so neither process blocks or breaks the other. */
  readonly log: string;
  readonly order: StopOrder;
  readonly stopSignal: NodeJS.Signals;
  readonly graceMs: number;
  readonly watchdog: Watchdog;
  /** Whether the program is one of ours, which reports over Node's IPC channel when it serves. */
  readonly reportsReady?: boolean;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** "exit code 1" or "SIGKILL". */
export function exitText(exit: Exit): string {
  return exit.signal ?? `exit code ${exit.code}`;
}

/** Size in bytes above which a log is moved to `<log>.1`. */
export const LONGEST_LOG = 64 << 20;

/** A process in its own session, out of reach of Ctrl-C. It is stopped in order, by this process or by the watchdog. */
export class Daemon {
  readonly name: string;
  readonly exited: Promise<Exit>;
  /** Resolves when the process reports that it serves; never for a program that does not report. */
  readonly reportedReady: Promise<unknown>;
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
      stdio: ['ignore', log, log, ...(options.reportsReady === true ? (['ipc'] as const) : [])],
      env: options.env ?? process.env,
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...options.user,
    });
    closeSync(log);
    this.reportedReady = new Promise((resolve) => this.#child.once('message', resolve));
    this.exited = new Promise((resolve, reject) => {
      this.#child.once('error', (error) => (this.#child.pid === undefined ? reject(error) : undefined));
      this.#child.once('exit', (code, signal) => {
        options.watchdog.remove(this.#child.pid!);
        resolve({ code, signal });
      });
    });
    // A failed launch rejects `exited`, which callers need not await.
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

  get stopping(): boolean {
    return this.#stopping;
  }

  /** Resolves to true when the output matches, and to false when the process ends without a match. */
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

  /** Sends the stop signal, kills the process after the grace period, and resolves when it has ended. */
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
