import { PeriodicTask, logOutage, type BackgroundPart, type Database, type Logger } from '@truckroll/service-kit';
import { recoverSome } from './recovery.ts';

/** Between looks for what other replicas began or left behind. */
const LOOK_MS = 5000;

/** Goes on with recoveries whose calls were answered. */
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

  /** Ends after the transaction that is under way; the next process goes on. */
  stop(): Promise<void> {
    return this.#looks.stop();
  }

  /** There is something to do: call after a commit. */
  look(): void {
    this.#looks.now();
  }

  async #run(): Promise<void> {
    try {
      while (!this.#looks.stopped && (await recoverSome(this.#database)));
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      logOutage(this.#log, 'a recovery of webhooks waits for the database', this.#failures, error);
    }
  }
}
