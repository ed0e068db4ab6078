// Every job has a job financial as soon as the job is known (decisions §12). If no line was imported, a default line is stored.
import { setImmediate as turn } from 'node:timers/promises';
import { CostTrackingStatus, CostVerificationStatus, JobFinancials } from '@truckroll/contract/gen/reporting/v1/job_financials';
import { binaryArrays, type Queryable, type Transaction } from '@truckroll/postgres';
import { handled } from '@truckroll/process';
import { DERIVED_TOGETHER, refreshRecords, upsertRecords } from '@truckroll/record-store';
import { jobFactOf, storeJobFacts, type JobFact } from '../facts/jobs.ts';
import { jobFinancials } from '../resources/job-financials.ts';
import { derivedFinancials } from '../financials/derive.ts';
import { readSources, sourcesOf } from '../financials/sources.ts';

/** Jobs per query: while PostgreSQL answers one, the results of another are processed here. */
const AT_ONCE = 250;

/** The recorded part for a job without an imported line; all else is derived. */
function unrecorded(id: string): JobFinancials {
  const nothing = JobFinancials.decode(new Uint8Array());
  const costing = {
    enabled: false,
    tracking_status: CostTrackingStatus.UNTRACKED,
    verification_status: CostVerificationStatus.UNVERIFIED,
    job_type_included: true,
  };
  return { ...nothing, id, costing, currency: 'USD' };
}

export interface JobsToRefresh {
  readonly jobs: readonly string[];
  /** Further jobs that may have changed, if finding them needs a query. */
  readonly before?: Promise<readonly string[]>;
  /** Whether the jobs themselves have just arrived: most may be new and have no job financial. */
  readonly arrived?: boolean;
}

/** Refreshes financials and facts from one read of their sources. */
export async function refreshJobs(tx: Transaction, companyId: string, { jobs, before, arrived = false }: JobsToRefresh): Promise<void> {
  const done = new Set(arrived ? await makeMissing(tx, companyId, jobs) : []);
  const refresh = async (some: readonly string[]): Promise<void> => {
    // In id order, as refreshRecords locks them.
    const ids = [...new Set(some)].filter((id) => !done.has(id)).sort();
    for (const id of ids) done.add(id);
    for (let first = 0; first < ids.length; first += DERIVED_TOGETHER) {
      const held = ids.slice(first, first + DERIVED_TOGETHER);
      const refreshing: Promise<void>[] = [];
      for (let start = 0; start < held.length; start += AT_ONCE) {
        // Sends each chunk in a packet by itself; otherwise PostgreSQL returns all results together.
        if (start > 0) await turn();
        refreshing.push(handled(refreshSome(tx, companyId, held.slice(start, start + AT_ONCE))));
      }
      await Promise.all(refreshing);
    }
  };
  await refresh(jobs);
  await refresh((await before) ?? []);
}

/** For at most DERIVED_TOGETHER jobs; those that have not arrived yet have no job financial. */
async function refreshSome(tx: Transaction, companyId: string, ids: readonly string[]): Promise<void> {
  const facts: JobFact[] = [];
  const observed: typeof jobFinancials = {
    ...jobFinancials,
    async derive(_tx, _companyId, batch) {
      const readModels = await sources;
      facts.push(...batch.flatMap(({ id, record }) => jobFactOf(record, sourcesOf(readModels, id)) ?? []));
      return derivedFinancials(batch, readModels);
    },
  };
  const refreshed = handled(refreshRecords(tx, observed, companyId, ids));
  // Pipelined behind the statement that locks the rows, since refreshRecords requires sources to be read after the lock.
  const sources = handled(readSources(tx, companyId, ids));
  await Promise.all([refreshed, sources]);
  await storeJobFacts(tx, companyId, ids, facts);
}

/** Removes the financials of removed jobs, unless a line was imported. The company is locked. */
export async function dropUnrecorded(tx: Queryable, companyId: string, jobIds: readonly string[]): Promise<void> {
  await tx.query({
    name: 'drop_unrecorded_financials',
    text: `delete from job_financials f using unnest($2::uuid[], $3::bytea[]) gone(id, document)
      where f.company_id = $1 and f.id = gone.id and f.document = gone.document`,
    values: [companyId, jobIds, jobIds.map((id) => Buffer.from(JobFinancials.encode(unrecorded(id)).finish()))],
  });
}

/** Creates missing job financials, including their facts; returns the ids of those jobs. */
async function makeMissing(tx: Transaction, companyId: string, jobIds: readonly string[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>({
    name: 'jobs_without_financials',
    text: `select distinct j.id from unnest($2::uuid[]) u(id) join jobs j on j.company_id = $1 and j.id = u.id
      where not exists (select from job_financials f where f.company_id = $1 and f.id = u.id)`,
    values: [companyId, binaryArrays.uuid(jobIds)],
  });
  const missing = rows.map(({ id }) => id);
  if (missing.length > 0) await upsertRecords(tx, jobFinancials, companyId, missing.map(unrecorded));
  return missing;
}
