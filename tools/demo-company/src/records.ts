import type { Company } from './company.ts';
import type { JobPlan } from './plans.ts';

export type DemoRecord = { readonly [field: string]: unknown };

/** The records of one path, one per line of `<path>.ndjson`. Can be iterated repeatedly. */
export interface DemoFile {
  readonly path: string;
  readonly records: Iterable<DemoRecord>;
}

export interface Records {
  all(company: Company): Iterable<DemoRecord>;
  about(company: Company, job: JobPlan): Iterable<DemoRecord>;
  /** Set when no record is related to a particular job: `about` then returns records that any job may name. */
  readonly shared?: true;
}
