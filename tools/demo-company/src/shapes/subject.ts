import type { Company } from '../company.ts';
import type { JobPlan } from '../plans.ts';

/** The context in which a record's values are generated: each value is a function of this and of its field. */
export class Subject {
  readonly company: Company;
  readonly n: number;
  /** When the record was created and last edited; its other times lie between, in the order of its fields. */
  readonly createdAt: number;
  readonly updatedAt: number;
  #job: JobPlan | undefined;

  constructor(company: Company, n: number, createdAt: number, updatedAt: number, job?: JobPlan) {
    this.company = company;
    this.n = n;
    this.createdAt = createdAt;
    this.updatedAt = updatedAt;
    this.#job = job;
  }

  get job(): JobPlan {
    return (this.#job ??= this.company.jobAt(this.n % this.company.size.jobs));
  }

  element(position: number): Subject {
    return new Subject(this.company, this.n * ELEMENTS + position, this.createdAt, this.updatedAt, this.job);
  }
}

const ELEMENTS = 8;
