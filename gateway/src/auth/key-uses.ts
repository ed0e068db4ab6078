import { now } from '@truckroll/contract';
import type { KeyUse } from '@truckroll/contract/gen/integrations/v1/identity';
import type { Logger } from '@truckroll/telemetry';

/** Interval in ms between reports. lastUsedAt must be right to a minute (decisions §8), which leaves room for one failed report. */
const FLUSH_MS = 20_000;
const MOST_IN_ONE_CALL = 1000;

export interface UsesOfKeys {
  /** `cell`: that of the company, if there are several. */
  note(companyId: string, keyId: string, cell?: string | null): void;
}

/** Reports to integrations of one cell, in the background, when keys were last used. */
export class KeyUses implements UsesOfKeys {
  readonly #touch: (uses: KeyUse[]) => Promise<unknown>;
  readonly #log: Logger;
  #uses = new Map<string, KeyUse>();
  #timer: NodeJS.Timeout | undefined;

  constructor(touch: (uses: KeyUse[]) => Promise<unknown>, log: Logger) {
    this.#touch = touch;
    this.#log = log;
  }

  start(): void {
    this.#timer = setInterval(() => void this.flush(), FLUSH_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }

  note(companyId: string, keyId: string): void {
    const use = this.#uses.get(keyId);
    if (use === undefined) this.#uses.set(keyId, { company_id: companyId, key_id: keyId, used_at: now() });
    else use.used_at = now();
  }

  /** Sends the noted uses; those that cannot be sent are kept for the next time. */
  async flush(): Promise<void> {
    const uses = [...this.#uses.values()];
    this.#uses = new Map();
    for (let from = 0; from < uses.length; from += MOST_IN_ONE_CALL) {
      const batch = uses.slice(from, from + MOST_IN_ONE_CALL);
      try {
        await this.#touch(batch);
      } catch (error) {
        this.#log.warn({ error, keys: batch.length }, 'the use of keys could not be noted yet');
        for (const use of batch) if (!this.#uses.has(use.key_id)) this.#uses.set(use.key_id, use);
      }
    }
  }
}
