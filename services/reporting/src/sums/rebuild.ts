// Sums all days again while reports read the current sums (docs/how-to/runbook.md, Read models).
import { setTimeout as delay } from 'node:timers/promises';
import type { RebuildResponse } from '@truckroll/contract/gen/reporting/v1/admin';
import type { Database } from '@truckroll/postgres';
import { beginSums } from './task.ts';

const LOOK_EVERY_MS = 100;

interface Rebuilding {
  readonly database: Database;
  readonly begun: () => void;
  readonly signal: AbortSignal;
}

/**
 * Makes all jobs' facts and all days due, which the task takes on from there; resolves when it has summed them. Its statements change rows of
 * all companies, so they may deadlock with the task.
 */
export async function rebuildSums({ database, begun, signal }: Rebuilding, progress: (step: RebuildResponse) => void): Promise<void> {
  const none = async (text: string): Promise<void> => {
    for (;;) {
      signal.throwIfAborted();
      begun();
      progress({ table: 'summaries', applied: 0, removed: 0, done: false, share: 0 });
      if ((await database.query({ text: `${text} limit 1` })).rowCount === 0) return;
      await delay(LOOK_EVERY_MS, undefined, { signal });
    }
  };
  await database.transaction(
    (tx) => tx.query({ text: 'insert into financials_to_refresh select company_id from companies on conflict (company_id) do update set after = null' }),
    { retryContention: true },
  );
  await none('select from financials_to_refresh');
  await beginSums(database);
  // Sums that are due already keep the version that they have.
  await database.transaction(
    (tx) =>
      tx.query({
        text: `update summed set due_version = case when due_before is null then version else least(version, due_version) end, due_before = 'infinity'`,
      }),
    { retryContention: true },
  );
  await none('select from summed s join companies c on c.company_id = s.company_id where s.due_before is not null');
  await database.transaction((tx) => tx.query({ text: `update due_months set changed_at = '-infinity'` }), { retryContention: true });
  await none(`select from due_months m join companies c on c.company_id = m.company_id where m.changed_at = '-infinity'`);
  progress({ table: 'summaries', applied: 0, removed: 0, done: true, share: 0 });
}
