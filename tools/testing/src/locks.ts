import { setTimeout as delay } from 'node:timers/promises';
import type { Database, Queryable, Transaction } from '@truckroll/postgres';

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
