import { backoffMs, pause } from '@truckroll/process';
import type { Queryable } from './statement.ts';

const MOST_AT_ONCE = 500;
/** Wait before a statement that failed is sent again, in ms. */
const RETRY = { firstMs: 100, mostMs: 2000 };

/**
 * Sends PostgreSQL notifications, each batch in one separate statement. A transaction that notifies holds a lock of the whole
 * server while it commits, so a write transaction never does.
 *
 * While one statement is in flight, new notifications queue for the next; equal ones are sent once. A failed statement is sent
 * again until `close`. Notifications of a process that dies are lost: listeners must poll as well, or let what they cache expire.
 */
export class Notifications {
  readonly #database: Pick<Queryable, 'query'>;
  readonly #closing = new AbortController();
  #queued = new Map<string, { readonly channel: string; readonly payload: string }>();
  #sending: Promise<void> | undefined;

  constructor(database: Pick<Queryable, 'query'>) {
    this.#database = database;
  }

  send(channel: string, payloads: readonly string[]): void {
    for (const payload of payloads) this.#queued.set(`${channel} ${payload}`, { channel, payload });
    if (this.#queued.size > 0) this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined));
  }

  /** Resolves when everything queued has been sent, or has failed once more. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#sending;
  }

  async #sendAll(): Promise<void> {
    for (let failures = 0; this.#queued.size > 0; ) {
      const batch = [...this.#queued].slice(0, MOST_AT_ONCE);
      for (const [key] of batch) this.#queued.delete(key);
      try {
        await this.#database.query({
          name: 'notify',
          text: 'select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) n (channel, payload)',
          values: [batch.map(([, { channel }]) => channel), batch.map(([, { payload }]) => payload)],
        });
        failures = 0;
      } catch {
        if (this.#closing.signal.aborted) return;
        this.#queued = new Map([...batch, ...this.#queued]);
        failures += 1;
        await pause(backoffMs(failures, RETRY), this.#closing.signal);
      }
    }
  }
}
