import type { WatchDueRequest, WatchDueResponse } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { backoffMs, pause } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';

export interface DueWatchOptions {
  readonly workerId: string;
  readonly watchDue: (request: WatchDueRequest, options: { signal: AbortSignal }) => AsyncIterable<WatchDueResponse>;
  readonly log: Logger;
}

type Due = (restartedEndpointIds: readonly string[]) => void;

/** Listens to integrations for deliveries that users request. While integrations is down or too old for this call, the worker polls for them. */
export class DueWatch {
  readonly #options: DueWatchOptions;
  readonly #stopping = new AbortController();
  #connected = false;
  #watching: Promise<void> = Promise.resolve();

  constructor(options: DueWatchOptions) {
    this.#options = options;
  }

  get connected(): boolean {
    return this.#connected;
  }

  /** `due` is called when something may be due, with the endpoints whose circuits to close. */
  start(due: Due): void {
    this.#watching = this.#watch(due);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#watching;
  }

  async #watch(due: Due): Promise<void> {
    const { workerId, watchDue, log } = this.#options;
    const { signal } = this.#stopping;
    for (let failures = 0; !signal.aborted; ) {
      try {
        for await (const { restarted_endpoint_ids: restarted } of watchDue({ worker_id: workerId }, { signal })) {
          failures = 0;
          this.#connected = true;
          due(restarted);
        }
      } catch (error) {
        if (!signal.aborted) log.debug({ error }, 'integrations sends no notices of due deliveries');
      }
      failures += 1;
      this.#connected = false;
      // Wakes the worker, which would otherwise finish the long wait for notifications that no longer come.
      due([]);
      await pause(backoffMs(failures), signal);
    }
  }
}
