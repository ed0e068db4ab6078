import type { DatabaseSession } from '@truckroll/postgres';

const EVERY_MS = 1000;

/**
 * The lowest id that the outbox can still contain: reads start there and skip the dead rows below it. A published id alone is no floor,
 * because transactions do not commit in the order of their ids. But each holds a lock on the outbox from taking an id to its end, so once
 * every transaction that held one after an id was published has ended, no row below that id can appear.
 */
export class Floor {
  #id = 0;
  #next = 0;
  #candidate: { readonly id: number; readonly writers: ReadonlySet<string> } | undefined;
  #lookedAt = -Infinity;

  get id(): number {
    return this.#id;
  }

  published(last: number): void {
    this.#next = Math.max(this.#next, last + 1);
  }

  /** Call before a read, and pass the result to `settle` after it: an id that becomes the floor unless the read finds a lower row. */
  async candidate(session: Pick<DatabaseSession, 'query'>): Promise<number | undefined> {
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

  /** Reports the lowest row found by a read that began after `candidate` resolved; undefined if it found none. */
  settle(candidate: number | undefined, lowest: number | undefined): void {
    if (candidate !== undefined) this.#id = Math.max(this.#id, Math.min(candidate, lowest ?? candidate));
  }
}
