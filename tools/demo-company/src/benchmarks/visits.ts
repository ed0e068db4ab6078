import { buildCompany } from '../build-company.ts';
import { filesOf } from '../generate.ts';
import type { CompanyShape, DemoOptions } from '../options.ts';
import type { DemoFile } from '../company.ts';
import type { Planned } from '../sources.ts';

export interface VisitOptions extends Pick<DemoOptions, 'seed' | 'timezone' | 'until'> {
  /** A multiple of 40. There are twice as many assignments and half as many jobs. */
  readonly visits: number;
  /** Number of team members. Default: 400. */
  readonly members?: number;
  /** Number of accounts. Default: one per twenty visits. */
  readonly accounts?: number;
}

/** Weights that give four jobs eight visits, and twenty visits forty assignments. */
const BUSY: CompanyShape = {
  visits: { 1: 1, 2: 2, 3: 1 },
  crew: { 0: 1, 1: 5, 2: 8, 3: 5, 4: 1 },
};
const VISITS_PER_JOB = 2;
const RUN = 40;

const PATHS: readonly Planned[] = [
  'business-units',
  'lead-sources',
  'tags',
  'job-lifecycles',
  'job-types',
  'team-members',
  'accounts',
  'contacts',
  'locations',
  'jobs',
  'job-appointments',
  'job-assignments',
];

/**
 * A company with very many visits, for benchmarks of filters. Values are as unevenly spread as in a realistic company, from four
 * fifths of the rows down to a few hundred. Throws RangeError like generateCompany.
 */
export function generateVisits({ visits, members, accounts, ...rest }: VisitOptions): DemoFile[] {
  if (!Number.isSafeInteger(visits) || visits < RUN || visits % RUN !== 0) {
    throw new RangeError(`visits must be a multiple of ${RUN}, not ${visits}`);
  }
  const size = { jobs: visits / VISITS_PER_JOB, members: members ?? 400, accounts: accounts ?? Math.ceil(visits / 20) };
  return filesOf(buildCompany({ ...rest, size }, BUSY), PATHS);
}
