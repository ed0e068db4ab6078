import type { RenewRequest, RenewResponse } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { PeriodicTask, type BackgroundPart } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';

export interface HeartbeatOptions {
  readonly workerId: string;
  readonly renew: (request: RenewRequest, options: { deadlineMs: number }) => Promise<RenewResponse>;
  readonly log: Logger;
}

/** Integrations considers a worker dead after four times this interval. */
const EVERY_MS = 1000;
const DEADLINE_MS = 2000;

/**
 * Shows integrations that this worker is alive. If it is killed, another worker gets its deliveries within seconds. Start it before the
 * worker and stop it after the worker, because its last call makes all unreported deliveries due again.
 */
export class Heartbeat implements BackgroundPart {
  readonly name = 'webhook heartbeat';
  readonly #options: HeartbeatOptions;
  /** `start` does not wait for the first one: it must work without integrations, and new leases last long enough. */
  readonly #beats = new PeriodicTask(EVERY_MS, () => this.#renew(false));

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#beats.start();
  }

  async stop(): Promise<void> {
    await this.#beats.stop();
    await this.#renew(true);
  }

  /** Ignores failures: without this call, a killed worker's deliveries only wait until their leases end. */
  async #renew(leaving: boolean): Promise<void> {
    const { workerId, renew, log } = this.#options;
    await renew({ worker_id: workerId, leaving }, { deadlineMs: DEADLINE_MS }).catch((error: unknown) =>
      log.debug({ error }, 'integrations did not receive the heartbeat of this worker'),
    );
  }
}
