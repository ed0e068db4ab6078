// Which jobs count in the job reports (decisions §2, §13): their standing, and the standings that a company's settings admit.
import { CostTrackingStatus, CostVerificationStatus, type JobFinancials } from '@truckroll/contract/gen/reporting/v1/job_financials';
import type { Queryable } from '@truckroll/postgres';

/** Whether a job's type is included, and whether its costs were verified. */
const standingOf = (included: boolean, verified: boolean): string => `${included ? 'included' : 'excluded'}_${verified ? 'verified' : 'unverified'}`;
/** Standing of a job whose costs are not tracked. No report counts it. */
const UNTRACKED = 'untracked';

export interface Admission {
  costingEnabled: boolean;
  verifiedOnly: boolean;
}

/** Undefined if the job's costs are not tracked. A job without a type is not included. */
export function standingOfJob({ costing, job_type }: Pick<JobFinancials, 'costing' | 'job_type'>): string | undefined {
  if (costing?.tracking_status !== CostTrackingStatus.TRACKED) return undefined;
  return standingOf(costing.job_type_included && job_type != null, costing.verification_status === CostVerificationStatus.VERIFIED);
}

/** The standings of jobs that count. */
export function countedStandings({ costingEnabled, verifiedOnly }: Admission, includesExcluded: boolean): string[] {
  if (!costingEnabled) return [];
  const [included, verified] = [includesExcluded ? [true, false] : [true], verifiedOnly ? [true] : [true, false]];
  return included.flatMap((isIncluded) => verified.map((isVerified) => standingOf(isIncluded, isVerified)));
}

const ALL = [...countedStandings({ costingEnabled: true, verifiedOnly: false }, true), UNTRACKED];

/** The filter `eligible` of job financials: a column that does not depend on settings, so that a changed setting is followed at once. */
export const eligible = {
  column: 'standing',
  async values(db: Queryable, companyId: string, asked: unknown): Promise<readonly string[]> {
    const { rows } = await db.query<Admission>({
      name: 'settings_of_eligible',
      text: 'select costing_enabled as "costingEnabled", verified_only as "verifiedOnly" from companies where company_id = $1',
      values: [companyId],
    });
    const counted = countedStandings(rows[0] ?? { costingEnabled: true, verifiedOnly: false }, false);
    return asked === true ? counted : ALL.filter((standing) => !counted.includes(standing));
  },
};

export const standingColumn = { type: 'text' as const, of: (record: JobFinancials): string => standingOfJob(record) ?? UNTRACKED };
