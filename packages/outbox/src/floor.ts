import type { Session } from '@truckroll/service-kit';

/** Minimum time between two attempts to raise the floor, in ms. */
const EVERY_MS = 1000;

/**
 * An id below which the outbox has no row and never will: reads begin there, not at the dead rows before it.
 *
 * Ids are not committed in their order, so a published id alone is no floor. A transaction that has taken an id holds a lock on the
 * outbox until it ends: once all those that held one after an id was published have ended, rows below that id are there or never come.
 */
export class Floor {
  #id = 0;
  /** After everything published so far. */
  #next = 0;
  #candidate: { readonly id: number; readonly writers: ReadonlySet<string> } | undefined;
  #lookedAt = -Infinity;

  get id(): number {
    return this.#id;
  }

  published(last: number): void {
    this.#next = Math.max(this.#next, last + 1);
  }

  /** Call before a read and pass it what this resolves to: an id that may be the floor when the read shows no row below it. */
  async candidate(session: Pick<Session, 'query'>): Promise<number | undefined> {
    if (this.#next <= this.#id || performance.now() - this.#lookedAt < EVERY_MS) return undefined;
    this.#lookedAt = performance.now();
    const id = this.#next;
    const { rows } = await session.query<{ writer: string }>({
      name: 'outbox_writers',
      text: `select virtualtransaction as writer from pg_locks where locktype = 'relation' and relation = 'outbox'::regclass
        and database = (select oid from pg_database where datname = current_database()) and mode = 'RowExclusiveLock'`,
    });
    const writers = new Set(rows.map(({ writer }) => writer));
    this.#candidate ??= { id, writers };
    if ([...this.#candidate.writers].some((writer) => writers.has(writer))) return undefined;
    const settled = this.#candidate.id;
    this.#candidate = { id, writers };
    return settled;
  }

  /** The read that began after `candidate` resolved to this id found this lowest row, or none. */
  settle(candidate: number | undefined, lowest: number | undefined): void {
    if (candidate !== undefined) this.#id = Math.max(this.#id, Math.min(candidate, lowest ?? candidate));
  }
}
