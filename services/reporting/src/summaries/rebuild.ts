// Rebuilds sums from facts while reports read the current ones (docs/how-to/runbook.md, Read models).
import { setTimeout as delay } from 'node:timers/promises';
import type { RebuildResponse } from '@truckroll/contract/gen/reporting/v1/admin';
import type { Database } from '@truckroll/postgres';
import { lockCompany } from '@truckroll/record-store';
import { beginGeneration } from './generations.ts';

const LOOK_EVERY_MS = 100;

interface Rebuilding {
  readonly database: Database;
  readonly begun: () => void;
  readonly signal: AbortSignal;
}

/** Begins a generation for every company, which the builder builds; resolves when all of them have replaced their predecessors. */
export async function rebuildSummaries({ database, begun, signal }: Rebuilding, progress: (step: RebuildResponse) => void): Promise<void> {
  const { rows: companies } = await database.query<{ company_id: string }>({ text: 'select company_id from companies order by company_id' });
  for (const { company_id: companyId } of companies) {
    signal.throwIfAborted();
    await database.transaction(async (tx) => {
      await lockCompany(tx, companyId);
      await beginGeneration(tx, companyId);
    });
    begun();
  }
  for (let left = companies.length; left > 0; ) {
    const { rows } = await database.query<{ count: number }>({ text: `select count(*) from generations where state = 'building'` });
    left = rows[0]?.count ?? 0;
    progress({ table: 'summaries', applied: 0, removed: 0, done: false, share: 0 });
    if (left > 0) await delay(LOOK_EVERY_MS, undefined, { signal });
  }
  progress({ table: 'summaries', applied: 0, removed: 0, done: true, share: 0 });
}
