// Refreshes the financials and facts of all jobs of a company, in batches by id: after a change of its settings, and after changes of
// their sources that were not followed (an operator's SQL).
import { notFreezing, type Database, type Transaction } from '@truckroll/postgres';
import { lockCompany } from '@truckroll/record-store';
import { jobsAfter } from '../facts/jobs.ts';
import { refreshJobs } from './every-job.ts';

const BATCH = 1000;

/** One batch of each company. Resolves to the number of batches. */
export async function refreshAfterSettings(database: Database, signal?: AbortSignal): Promise<number> {
  const { rows } = await database.query<{ company_id: string }>({
    name: 'companies_to_refresh',
    text: `select company_id from financials_to_refresh where ${notFreezing('financials_to_refresh.company_id')}`,
  });
  for (const { company_id: companyId } of rows) {
    signal?.throwIfAborted();
    await database.transaction((tx) => refreshSome(tx, companyId), { retryContention: true });
  }
  return rows.length;
}

async function refreshSome(tx: Transaction, companyId: string): Promise<void> {
  await lockCompany(tx, companyId);
  const { rows } = await tx.query<{ after: string | null }>({
    name: 'to_refresh',
    text: 'select after from financials_to_refresh where company_id = $1 for update',
    values: [companyId],
  });
  if (rows[0] === undefined) return;
  const ids = await jobsAfter(tx, companyId, rows[0].after, BATCH);
  await refreshJobs(tx, companyId, { jobs: ids });
  await tx.query(
    ids.length < BATCH
      ? { name: 'refreshed_all', text: 'delete from financials_to_refresh where company_id = $1', values: [companyId] }
      : { name: 'refreshed_some', text: 'update financials_to_refresh set after = $2 where company_id = $1', values: [companyId, ids.at(-1)] },
  );
}
