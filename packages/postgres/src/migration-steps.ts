// Migrations that run outside a transaction, a statement at a time, so that they block nothing for long.
import { backoffMs } from '@truckroll/process';
import { isContention, isLockTimeout } from './errors.ts';
import type { DatabaseSession } from './session.ts';

/** First line of a migration that runs in steps. Each statement ends with a semicolon at the end of a line. */
const STEPS = '-- in steps';
/** Milliseconds for which a migration waits for a lock. PostgreSQL looks for deadlocks after 1,000. */
export const LOCK_MS = 500;
/** Wait between two tries, in ms. */
const TURNS = { firstMs: 250, mostMs: 2000 };
/** Longest time that a step or migration is tried, in ms: longer than transactions hold locks, except by mistake. */
const TIMEOUT_MS = 600_000;
const INDEX = /^create\s+(?:unique\s+)?index\s+concurrently\s+(?<index>[a-z_][a-z0-9_]*)\s+on\b/i;
const CONCURRENT = /^(?:create\s+(?:unique\s+)?|drop\s+)index\s+concurrently\b/i;
const ROWS = /^(?:with|update|delete|insert)\b/i;

export function isInSteps(sql: string): boolean {
  return sql.split(/\r?\n/, 1)[0]?.trim() === STEPS;
}

export function stepsOf(sql: string): string[] {
  const code = sql.replaceAll(/^\s*--.*$/gm, '');
  return code
    .split(/;[ \t]*(?:\r?\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

/**
 * Runs each step until it is done. A crash in between leaves steps that are done or partly done, so running them again must finish them:
 * an index that is valid is kept, and an invalid one, which an interrupted build leaves, is built again; a change of rows is repeated until
 * it changes none, so it must choose a batch of rows that it has not changed yet.
 */
export async function runSteps(session: DatabaseSession, sql: string): Promise<void> {
  for (const step of stepsOf(sql)) {
    const index = INDEX.exec(step)?.groups?.['index'];
    // A concurrent index build waits for all open transactions, however long they take, but does not block them.
    const lockMs = CONCURRENT.test(step) ? 0 : LOCK_MS;
    await withTurns(
      async () => {
        await session.query({ text: `set lock_timeout = ${lockMs}` });
        if (index !== undefined && (await isBuilt(session, index))) return;
        for (;;) {
          const { rowCount } = await session.query({ text: step });
          if (!ROWS.test(step) || rowCount === 0) return;
        }
      },
      async () => undefined,
    );
  }
}

async function isBuilt(session: DatabaseSession, index: string): Promise<boolean> {
  const { rows } = await session.query<{ valid: boolean }>({
    text: 'select indisvalid and indisready as valid from pg_index where indexrelid = to_regclass($1)',
    values: [index],
  });
  if (rows[0]?.valid === false) await session.query({ text: `drop index concurrently ${index}` });
  return rows[0]?.valid === true;
}

/** Retries work that gave way to others, by a lock timeout or a deadlock. */
export async function withTurns(work: () => Promise<void>, undo: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  for (let failures = 1; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isLockTimeout(error) && !isContention(error)) throw error;
      await undo();
      if (performance.now() - startedAt > TIMEOUT_MS) throw error;
      await new Promise((resolve) => setTimeout(resolve, backoffMs(failures, TURNS)));
    }
  }
}
