import type { Company } from './company.ts';
import type { JobPlan } from './scheduling/plans.ts';

/** A record as written in `<path>.ndjson`. */
export type DemoRecord = { readonly [field: string]: unknown };

/** The records of one path, one per line of `<path>.ndjson`. Can be iterated repeatedly. */
export interface DemoFile {
  readonly path: string;
  readonly records: Iterable<DemoRecord>;
}

/** The source of a path's records. */
export interface Records {
  all(company: Company): Iterable<DemoRecord>;
  /** The records related to a job. */
  about(company: Company, job: JobPlan): Iterable<DemoRecord>;
  /** Set when no record is related to a particular job: `about` then returns records that any job may name. */
  readonly shared?: true;
}
