import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Daemon, Problem, type Watchdog } from '@truckroll/local-stack';
import { exitText } from '../../../tools/local-stack/src/processes/daemon.ts';
import type { ProcessPlan } from '../../../tools/local-stack/src/start/plan.ts';
import { isReady } from '../../../tools/local-stack/src/start/readiness.ts';
import type { Target } from './target.ts';

const POLL_MS = 50;
const READY_MS = 120_000;
const RESTART_MS = 250;

export interface ProgramOptions {
  readonly plan: ProcessPlan;
  readonly logs: string;
  readonly watchdog: Watchdog;
  readonly environment: NodeJS.ProcessEnv;
  readonly preload?: string | undefined;
}

/** One of our processes. If it ends unexpectedly, it is reported and restarted, as a supervisor would. */
export class Program implements Target {
  readonly name: string;
  readonly ends: string[] = [];
  readonly log: string;
  readonly #options: ProgramOptions;
  #daemon: Daemon | undefined;
  #wanted = false;
  #ready = false;

  constructor(options: ProgramOptions) {
    this.name = options.plan.name;
    this.log = join(options.logs, `${this.name}.log`);
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#wanted = true;
    this.#launch();
    for (const startedAt = performance.now(); !(await isReady(this.#options.plan.readyUrl)); ) {
      if (performance.now() - startedAt > READY_MS) throw new Problem(`${this.name} did not become ready: see ${this.log}.`);
      await delay(POLL_MS);
    }
    this.#ready = true;
  }

  get ready(): boolean {
    return this.#ready;
  }

  /** Stops the process as an operator does. Resolves when it has ended: to undefined after exit code 0, else to the exit's description. */
  async stop(): Promise<string | undefined> {
    this.#wanted = this.#ready = false;
    const exit = await this.#daemon?.stop();
    return exit === undefined || exit.code === 0 ? undefined : exitText(exit);
  }

  async kill(): Promise<void> {
    this.#wanted = false;
    this.#daemon?.kill('SIGKILL');
    await this.#daemon?.exited;
  }

  pause(): void {
    this.#daemon?.kill('SIGSTOP');
  }

  resume(): void {
    this.#daemon?.kill('SIGCONT');
  }

  release(): void {
    this.#wanted = false;
  }

  #launch(): void {
    const { plan, watchdog, environment, preload } = this.#options;
    const daemon = new Daemon({
      name: this.name,
      command: process.execPath,
      args: [...(preload === undefined ? [] : ['--import', preload]), plan.script],
      env: { ...environment, ...plan.environment },
      log: this.log,
      order: plan.order,
      stopSignal: 'SIGTERM',
      graceMs: 15_000,
      watchdog,
    });
    this.#daemon = daemon;
    void daemon.exited.then(async (exit) => {
      if (!this.#wanted) return;
      this.ends.push(exitText(exit));
      await delay(RESTART_MS);
      if (this.#wanted) this.#launch();
    });
  }
}
