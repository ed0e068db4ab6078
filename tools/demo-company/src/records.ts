import type { Company } from './company.ts';
import type { JobPlan } from './scheduling/plans.ts';

/** A record as its line of `<path>.ndjson` has it. */
export type DemoRecord = { readonly [field: string]: unknown };

/** The records of one path, as `<path>.ndjson` holds them one a line. They can be iterated as often as wanted. */
export interface DemoFile {
  readonly path: string;
  readonly records: Iterable<DemoRecord>;
}

/** Where the records of a path come from. */
export interface Records {
  all(company: Company): Iterable<DemoRecord>;
  /** Those that have to do with a job. */
  about(company: Company, job: JobPlan): Iterable<DemoRecord>;
  /** No record has more to do with a job than another: `about` gives those that anybody may name. */
  readonly shared?: true;
}
