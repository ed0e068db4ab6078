// Interleaves transactions by events: one transaction of the test holds a lock until the code under test waits for it.
import { setTimeout as delay } from 'node:timers/promises';
import { createSession, type Database, type DatabaseSession, type Queryable, type Transaction } from '@truckroll/postgres';

const EVERY_MS = 5;
const AT_MOST_MS = 30_000;

/** Whether `work` comes to wait for a lock: true once `count` clients of the database wait for one, false if `work` ends before. Rejects after 30 s. */
export async function mustWait(database: Pick<Queryable, 'query'>, work: Promise<unknown>, count = 1): Promise<boolean> {
  let ended = false;
  const end = (): void => void (ended = true);
  work.then(end, end);
  for (const startedAt = performance.now(); ; ) {
    const wasEnded = ended;
    // Outside transactions, because PostgreSQL shows a transaction the sessions as they were at its first look.
    const { rowCount } = await database.query({
      text: `select from pg_stat_activity where datname = current_database() and backend_type = 'client backend' and wait_event_type = 'Lock'`,
    });
    if (rowCount >= count) return true;
    if (wasEnded) return false;
    if (performance.now() - startedAt > AT_MOST_MS) {
      throw new Error(`waited for ${count} transactions to wait for a lock, for ${AT_MOST_MS / 1000} s; seen last: ${rowCount}, and the work has not ended`);
    }
    await delay(EVERY_MS);
  }
}

/**
 * Opens a transaction, runs `first` in it, and then `work`, which must wait for a lock of the transaction. Runs `last` in the transaction
 * before its commit, and resolves when `work` has ended.
 */
export async function whileOpen(
  database: Database,
  first: (tx: Transaction) => Promise<unknown>,
  work: () => Promise<unknown>,
  last: (tx: Transaction) => Promise<unknown> = async () => undefined,
): Promise<void> {
  let working: Promise<unknown> = Promise.resolve();
  await database.transaction(async (tx) => {
    await first(tx);
    working = work();
    if (!(await mustWait(database, working))) throw new Error('the work did not wait for the open transaction', { cause: await working });
    await last(tx);
  });
  await working;
}

/** A transaction of the test, for steps that `whileOpen` does not fit: several waiters, or work that must not wait. */
export class LockHolder {
  readonly #own: DatabaseSession;
  readonly #watch: DatabaseSession;

  constructor(own: DatabaseSession, watch: DatabaseSession) {
    this.#own = own;
    this.#watch = watch;
  }

  /** Runs a statement in the test's transaction, which keeps its locks until the end. */
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
