import { ApiError } from '@truckroll/contract';
import type { CatchUpRun } from '@truckroll/contract/gen/records/v1/catch_up';
import type { Database } from '@truckroll/postgres';
import { PeriodicTask, logOutage, pause } from '@truckroll/process';
import type { Logger, Metrics } from '@truckroll/telemetry';
import { advance, beginAgain, incompleteFor, runsOf } from './runs.ts';
import type { Task } from './task.ts';

/** Poll interval in ms: finds what is due, and runs that another replica has left. */
const REST_MS = 5000;
/** Interval between progress reports, and wait after an error, in ms. */
const AGAIN_MS = 1000;
const RETRY_AFTER_SECONDS = 5;

export interface RunnerOptions {
  readonly database: Database;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Runs one task: what is due, and a batch of each unfinished run, at most half of the time. */
export class Runner {
  readonly #task: Task;
  readonly #options: RunnerOptions;
  readonly #loop = new PeriodicTask(
    REST_MS,
    (signal) => this.#run(signal),
    (error, failures) => logOutage(this.#options.log, 'a task cannot catch up; trying again', failures, error, { task: this.#task.name }),
    AGAIN_MS,
  );
  readonly #processed;
  readonly #unfinished;
  #complete = false;

  constructor(task: Task, options: RunnerOptions) {
    this.#task = task;
    this.#options = options;
    this.#processed = options.metrics.counter('catch_up_records_total', 'Stored records that runs of a task have processed', ['task']);
    this.#unfinished = options.metrics.gauge('catch_up_runs_unfinished', 'Runs of a task that have not reached the end', ['task']);
  }

  /** Does the first batches before it returns: a schema without records is then complete before it accepts any. */
  async start(): Promise<void> {
    const { log } = this.#options;
    await this.#round(new AbortController().signal).catch((error: unknown) =>
      log.warn({ task: this.#task.name, error }, 'a task could not catch up at start; trying again'),
    );
    this.#loop.start();
  }

  /** Ends after the current batch; another replica continues. */
  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Looks for work at once. */
  look(): void {
    this.#loop.now();
  }

  /** Errors: 503 while some of the company's records of these kinds may not have been processed. */
  async check(companyId: string, subjects: readonly string[]): Promise<void> {
    if (this.#complete) return;
    const { name, preparing } = this.#task;
    const incomplete = await incompleteFor(this.#options.database, name, subjects, companyId);
    if (incomplete.length === 0) return;
    const what = preparing?.(incomplete) ?? `${name} of ${incomplete.join(', ')}`;
    const message = `${what} is being prepared after an upgrade. Try again after the time in Retry-After.`;
    throw new ApiError('INTERNAL_ERROR', message, { status: 503, retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  /** Begins finished runs again and reports on each until it has ended. */
  async *again(signal: AbortSignal): AsyncIterable<CatchUpRun> {
    const { database } = this.#options;
    const totals = new Map<string, number>();
    for (const subject of this.#task.subjects ?? []) totals.set(subject, (await this.#task.total?.(subject)) ?? 0);
    await beginAgain(database, this.#task.name);
    for (const ended = new Set<string>(); ended.size < totals.size; ) {
      this.look();
      for (const run of await runsOf(database, this.#task)) {
        if (ended.has(run.subject)) continue;
        if (run.done) ended.add(run.subject);
        yield { ...run, total: totals.get(run.subject) ?? 0 };
      }
      signal.throwIfAborted();
      if (ended.size < totals.size) await pause(AGAIN_MS, signal);
    }
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const startedAt = performance.now();
      if (!(await this.#round(signal))) return;
      const tookMs = performance.now() - startedAt;
      await this.#task.worked?.(signal);
      await pause(tookMs, signal);
    }
  }

  /** Returns whether there may be more to do. */
  async #round(signal: AbortSignal): Promise<boolean> {
    const { database } = this.#options;
    const { name: task, due } = this.#task;
    let more = (await due?.(signal)) === true;
    if (this.#task.subjects === undefined) return more;
    const runs = await runsOf(database, this.#task);
    this.#complete = runs.every(({ complete }) => complete);
    const unfinished = new Set(runs.flatMap(({ subject, done }) => (done ? [] : [subject])));
    // Also makes the series known.
    this.#processed.inc({ task }, 0);
    this.#unfinished.set({ task }, unfinished.size);
    for (const subject of unfinished) {
      const batch = await database.transaction((tx) => advance(tx, this.#task, subject), { retryContention: true });
      if (batch?.more === true) more = true;
      if (batch?.more === false) unfinished.delete(subject);
      this.#processed.inc({ task }, batch?.count ?? 0);
      this.#unfinished.set({ task }, unfinished.size);
    }
    return more;
  }
}
