import { setTimeout as delay } from 'node:timers/promises';
import type { Database, Transaction } from '@truckroll/service-kit';

const EVERY_MS = 5;

/** Whether `work` comes to wait for a lock: true once `count` sessions of the database wait for one, false if `work` ends before. */
export async function mustWait(database: Database, work: Promise<unknown>, count = 1): Promise<boolean> {
  let ended = false;
  const end = (): void => void (ended = true);
  work.then(end, end);
  for (;;) {
    const wasEnded = ended;
    // Outside transactions, because PostgreSQL shows a transaction the sessions as they were at its first look.
    const { rowCount } = await database.query({
      text: `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    });
    if (rowCount >= count) return true;
    if (wasEnded) return false;
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
