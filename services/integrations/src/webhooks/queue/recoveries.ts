import type { Database } from '@truckroll/postgres';
import { PeriodicTask, logOutage, type BackgroundPart } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';
import { skipOverdue } from '../endpoints/state.ts';
import { recoverSome, sendResumed } from './recovery.ts';
import { replaySome } from './replay.ts';

/** Poll interval in ms for recoveries that other replicas began or left behind. */
const LOOK_MS = 5000;

/** Continues recoveries in the background after their calls were answered, and ends what waits too long for paused endpoints. */
export class Recoveries implements BackgroundPart {
  readonly name = 'webhook recoveries';
  readonly #database: Database;
  readonly #log: Logger;
  readonly #looks = new PeriodicTask(LOOK_MS, () => this.#run());
  #failures = 0;

  constructor(database: Database, log: Logger) {
    this.#database = database;
    this.#log = log;
  }

  async start(): Promise<void> {
    this.#looks.start();
  }

  /** Finishes the current transaction; the next process continues. */
  stop(): Promise<void> {
    return this.#looks.stop();
  }

  /** Call after committing a new recovery. */
  look(): void {
    this.#looks.now();
  }

  async #run(): Promise<void> {
    try {
      while (!this.#looks.stopped && (await recoverSome(this.#database)));
      while (!this.#looks.stopped && (await replaySome(this.#database)));
      await sendResumed(this.#database);
      while (!this.#looks.stopped && (await skipOverdue(this.#database)));
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      logOutage(this.#log, 'a recovery of webhooks waits for the database', this.#failures, error);
    }
  }
}
