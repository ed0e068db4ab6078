import type { WatchDueRequest, WatchDueResponse } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { backoffMs, pause, type BackgroundPart } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';

export interface DueWatchOptions {
  readonly workerId: string;
  readonly watchDue: (request: WatchDueRequest, options: { signal: AbortSignal }) => AsyncIterable<WatchDueResponse>;
  /** Called when something may be due, with the endpoints whose circuits to close. */
  readonly due: (restartedEndpointIds: readonly string[]) => void;
  readonly log: Logger;
}

/** Listens to integrations for deliveries that users request. While integrations is down or too old for this call, the worker polls for them. */
export class DueWatch implements BackgroundPart {
  readonly name = 'webhook notices';
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

  async start(): Promise<void> {
    this.#watching = this.#watch();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#watching;
  }

  async #watch(): Promise<void> {
    const { workerId, watchDue, due, log } = this.#options;
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
