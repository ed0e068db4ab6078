import type { Company } from '../company.ts';
import type { JobPlan } from '../scheduling/plans.ts';

/** What the values of one record have in common: each is a function of it and of the field. */
export class Subject {
  readonly company: Company;
  /** The record's number among those of its path; an element of a list has one of its own. */
  readonly n: number;
  /** When the record was made and last edited; its other moments lie between, in the order of its fields. */
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

  /** The job that the record is about: whom and what it names follows from it. */
  get job(): JobPlan {
    return (this.#job ??= this.company.jobAt(this.n % this.company.size.jobs));
  }

  /** An element of one of its lists. */
  element(position: number): Subject {
    return new Subject(this.company, this.n * ELEMENTS + position, this.createdAt, this.updatedAt, this.job);
  }
}

/** Elements of one list have numbers below this. */
const ELEMENTS = 8;
