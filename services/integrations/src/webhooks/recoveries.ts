import { logOutage, type BackgroundPart, type Database, type Logger } from '@truckroll/service-kit';
import { recoverSome } from './recover.ts';

/** Between looks for what other replicas began or left behind. */
const LOOK_MS = 1000;

/** Goes on with recoveries whose calls were answered. */
export class Recoveries implements BackgroundPart {
  readonly name = 'webhook recoveries';
  readonly #database: Database;
  readonly #log: Logger;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #stopped = true;
  #failures = 0;

  constructor(database: Database, log: Logger) {
    this.#database = database;
    this.#log = log;
  }

  async start(): Promise<void> {
    this.#stopped = false;
    this.#soon(0);
  }

  /** Ends after the transaction that is under way; the next process goes on. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  /** There is something to do: call after a commit. */
  look(): void {
    this.#soon(0);
  }

  #soon(ms: number): void {
    if (this.#stopped || this.#running !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#running = this.#run().finally(() => {
        this.#running = undefined;
        this.#soon(LOOK_MS);
      });
    }, ms);
  }

  async #run(): Promise<void> {
    try {
      while (!this.#stopped && (await recoverSome(this.#database)));
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      logOutage(this.#log, 'a recovery of webhooks waits for the database', this.#failures, error);
    }
  }
}
