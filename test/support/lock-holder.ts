// Interleaves transactions by events: the test's own transaction holds a lock until the code under test waits for it.
import { createSession, type DatabaseSession } from '@truckroll/postgres';
import { mustWait } from '@truckroll/testing';

export class LockHolder {
  readonly #own: DatabaseSession;
  readonly #watch: DatabaseSession;

  constructor(own: DatabaseSession, watch: DatabaseSession) {
    this.#own = own;
    this.#watch = watch;
  }

  async run(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    return (await this.#own.query({ text, values })).rows;
  }

  /** Whether no other transaction holds the row. The test's transaction holds it from then on. */
  async isFree(table: string, id: string | undefined, key = 'id'): Promise<boolean> {
    const { rowCount } = await this.#own.query({ text: `select from ${table} where ${key} = $1 for update skip locked`, values: [id] });
    return rowCount === 1;
  }

  /** Resolves to true once at least `transactions` of the database wait for a lock, or to false if one of the calls ends first. */
  waiting(transactions: number, ...calls: Promise<unknown>[]): Promise<boolean> {
    return mustWait(this.#watch, Promise.race(calls), transactions);
  }

  async commit(): Promise<void> {
    await this.run('commit');
  }

  async rollback(): Promise<void> {
    await this.run('rollback');
  }
}

/** Opens a transaction on the database of the code under test, runs the work with it, and undoes what the work has not committed. */
export async function holdingLocks<T>(database: Parameters<typeof createSession>[0], work: (holder: LockHolder) => Promise<T>): Promise<T> {
  const sessions = await Promise.all([createSession(database), createSession(database)]);
  const holder = new LockHolder(...sessions);
  try {
    await holder.run('begin');
    return await work(holder);
  } finally {
    for (const session of sessions) await session.close();
  }
}
