import type { RenewRequest, RenewResponse } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { PeriodicTask, type BackgroundPart, type Logger } from '@truckroll/service-kit';

export interface HeartbeatOptions {
  readonly workerId: string;
  readonly renew: (request: RenewRequest, options: { deadlineMs: number }) => Promise<RenewResponse>;
  readonly log: Logger;
}

/** What integrations waits for is four times as long. */
const EVERY_MS = 1000;
const DEADLINE_MS = 2000;

/**
 * Tells integrations that this worker is alive, so that what it holds when it is killed is sent by another one within
 * seconds. Start it before the worker, and stop it after: with its last word, whatever was not reported is due again.
 */
export class Heartbeat implements BackgroundPart {
  readonly name = 'webhook heartbeat';
  readonly #options: HeartbeatOptions;
  /** Nobody waits for the first: starting needs no other service, and leases last by themselves. */
  readonly #beats = new PeriodicTask(EVERY_MS, () => this.#tell(false));

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#beats.start();
  }

  async stop(): Promise<void> {
    await this.#beats.stop();
    await this.#tell(true);
  }

  /** A service that is away, or older than this call, only makes what a killed worker held wait for its leases. */
  async #tell(leaving: boolean): Promise<void> {
    const { workerId, renew, log } = this.#options;
    await renew({ worker_id: workerId, leaving }, { deadlineMs: DEADLINE_MS }).catch((error: unknown) =>
      log.debug({ error }, 'integrations could not be told that this worker is alive'),
    );
  }
}
