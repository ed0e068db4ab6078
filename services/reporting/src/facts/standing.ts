// Which jobs count in the job reports (decisions §2, §13): their standing, and the standings that a company's settings admit.
import { CostTrackingStatus, CostVerificationStatus, type JobFinancials } from '@truckroll/contract/gen/reporting/v1/job_financials';
import type { Queryable } from '@truckroll/postgres';
import { STANDINGS, standingOf, type Standing } from './definitions.ts';

/** Standing of a job whose costs are not tracked. No report counts it. */
const UNTRACKED = 'untracked';
const ALL: readonly string[] = [...Object.keys(STANDINGS), UNTRACKED];

export interface Admission {
  costingEnabled: boolean;
  verifiedOnly: boolean;
}

/** Undefined if the job's costs are not tracked. A job without a type is not included. */
export function standingOfJob({ costing, job_type }: Pick<JobFinancials, 'costing' | 'job_type'>): Standing | undefined {
  if (costing?.tracking_status !== CostTrackingStatus.TRACKED) return undefined;
  return standingOf(costing.job_type_included && job_type != null, costing.verification_status === CostVerificationStatus.VERIFIED);
}

/** The standings of jobs that count. */
export function countedStandings({ costingEnabled, verifiedOnly }: Admission, includesExcluded: boolean): Standing[] {
  if (!costingEnabled) return [];
  const counted = Object.entries(STANDINGS).filter(([, { included, verified }]) => (included || includesExcluded) && (verified || !verifiedOnly));
  return counted.map(([standing]) => standing as Standing);
}

/** The filter `eligible` of job financials: a column that does not depend on settings, so that a changed setting is followed at once. */
export const eligible = {
  column: 'standing',
  async values(db: Queryable, companyId: string, asked: unknown): Promise<readonly string[]> {
    const { rows } = await db.query<Admission>({
      name: 'settings_of_eligible',
      text: 'select costing_enabled as "costingEnabled", verified_only as "verifiedOnly" from companies where company_id = $1',
      values: [companyId],
    });
    const counted: readonly string[] = countedStandings(rows[0] ?? { costingEnabled: true, verifiedOnly: false }, false);
    return asked === true ? counted : ALL.filter((standing) => !counted.includes(standing));
  },
};

export const standingColumn = { type: 'text' as const, of: (record: JobFinancials): string => standingOfJob(record) ?? UNTRACKED };
