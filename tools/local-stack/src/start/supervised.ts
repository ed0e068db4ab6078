import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Problem } from '../problem.ts';
import { Daemon, exitText, type Exit } from '../processes/daemon.ts';
import type { Watchdog } from '../processes/watchdog.ts';
import { since, type Say } from '../say.ts';
import type { ProcessPlan } from './plan.ts';
import { isReady } from './readiness.ts';

const POLL_MS = 100;
/** Poll interval in ms before a process has reported that it serves. Each poll costs the process as much as a request. */
const UNREPORTED_POLL_MS = 500;
/** Attempts for a process that has never been ready: its configuration or code is wrong, so more attempts would not help. */
const FIRST_TRIES = 3;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
/** A process that was ready for this many milliseconds has recovered: its next failure counts as the first. */
const RECOVERED_MS = 60_000;
/** Longer than the services' own drain limit (DRAIN_TIMEOUT). */
const GRACE_MS = 15_000;
export const DRAIN_TIMEOUT = '10s';

export interface SupervisedOptions {
  readonly plan: Pick<ProcessPlan, 'name' | 'script' | 'order' | 'readyUrl' | 'environment'>;
  readonly logs: string;
  readonly watchdog: Watchdog;
  readonly say: Say;
  readonly environment: NodeJS.ProcessEnv;
}

/** A process that is restarted, after a growing pause, whenever it ends unexpectedly. */
export class Supervised {
  readonly name: string;
  /** Resolves when the process is first ready; rejects when it keeps ending before that. */
  readonly ready: Promise<void>;
  readonly log: string;
  readonly #options: SupervisedOptions;
  readonly #stopping = new AbortController();
  #plan: SupervisedOptions['plan'];
  #daemon: Daemon | undefined;
  #readiness = Promise.withResolvers<void>();
  #change = Promise.withResolvers<void>();
  #changedAt: number | undefined;

  constructor(options: SupervisedOptions) {
    this.name = options.plan.name;
    this.log = join(options.logs, `${this.name}.log`);
    this.#options = options;
    this.#plan = options.plan;
    this.ready = this.#readiness.promise;
    this.#keep().catch((error: unknown) => this.#readiness.reject(error));
  }

  get pid(): number | undefined {
    return this.#daemon?.pid;
  }

  /** Restarts the process with changes to its plan, made at `changedAt`. Resolves when it is ready again, or changed once more. */
  async change(changes: Partial<Pick<ProcessPlan, 'script' | 'environment'>>, changedAt = performance.now()): Promise<void> {
    await this.ready;
    this.#plan = { ...this.#plan, ...changes };
    this.#changedAt = changedAt;
    this.#readiness.resolve();
    this.#readiness = Promise.withResolvers();
    this.#change.resolve();
    this.#change = Promise.withResolvers();
    await Promise.all([this.#daemon?.stop(), this.#readiness.promise]);
  }

  /** Stops restarting. The process itself is stopped later, in order, together with all the others. */
  release(): void {
    this.#stopping.abort();
  }

  async #keep(): Promise<void> {
    const { say } = this.#options;
    let everReady = false;
    for (let failures = 1; ; failures += 1) {
      const startedAt = this.#changedAt ?? performance.now();
      this.#changedAt = undefined;
      const daemon = this.#launch();
      this.#daemon = daemon;
      const readyAt = await this.#untilReady(daemon);
      if (readyAt !== undefined) {
        say(`${this.name} is ready ${everReady ? 'again ' : ''}after ${since(startedAt)}`);
        everReady = true;
        this.#readiness.resolve();
      }
      const exit = await daemon.exited;
      if (this.#stopping.signal.aborted) return;
      if (daemon.stopping) {
        failures = 0;
        continue;
      }
      if (readyAt !== undefined && performance.now() - readyAt > RECOVERED_MS) failures = 1;
      if (!everReady && failures >= FIRST_TRIES) throw new Problem(this.#hopeless(daemon, exit));
      const pause = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
      say(`${this.name} has ended (${exitText(exit)}) and is started again in ${pause / 1000} s: ${this.log} may say why.`);
      const changed = await Promise.race([delay(pause, false, { signal: this.#stopping.signal }), this.#change.promise.then(() => true)]).catch(() => false);
      if (this.#stopping.signal.aborted) return;
      if (changed) failures = 0;
    }
  }

  #launch(): Daemon {
    const { watchdog, environment } = this.#options;
    return new Daemon({
      name: this.name,
      command: process.execPath,
      args: [this.#plan.script],
      env: { ...environment, ...this.#plan.environment },
      log: this.log,
      order: this.#plan.order,
      stopSignal: 'SIGTERM',
      graceMs: GRACE_MS,
      watchdog,
      reportsReady: true,
    });
  }

  async #untilReady(daemon: Daemon): Promise<number | undefined> {
    let reported = false;
    const report = daemon.reportedReady.then(() => {
      reported = true;
    });
    while (daemon.running) {
      await Promise.race([reported ? delay(POLL_MS) : Promise.race([report, delay(UNREPORTED_POLL_MS)]), daemon.exited]);
      if (await isReady(this.#plan.readyUrl)) return performance.now();
    }
    return undefined;
  }

  #hopeless(daemon: Daemon, exit: Exit): string {
    const lines = daemon.output.lines();
    const port = lines.map((line) => /EADDRINUSE[^\d]*(?:[\d.:a-f]*:)?(\d+)/.exec(line)?.[1]).find(Boolean);
    if (port) return `${this.name} cannot listen on port ${port}, which is in use: stop what uses it and start again.`;
    const plain = lines
      .filter((line) => !line.startsWith('{'))
      .slice(0, 5)
      .join('\n');
    return `${this.name} cannot start (${exitText(exit)}): ${this.log} has the details.${plain ? `\n${plain}` : ''}`;
  }
}
