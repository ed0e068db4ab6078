import type { LifecycleStage } from '@truckroll/contract/gen/scheduling/v1/job_lifecycles';
import type { JobClass } from '@truckroll/contract/gen/type/v1/type';
import type { Candidate, Ground, Reference } from './ground.ts';
import type { JobType, LeadSource, Lifecycle, Tag, Unit } from './reference.ts';
import type { Spelled } from './shapes/given.ts';
import type { Field } from '@truckroll/contract';
import type { Deck, Rota } from './random.ts';
import type { BoardSlot } from './scheduling/board.ts';
import type { Members } from './scheduling/team-members.ts';
import type { Calendar } from './time.ts';

export interface VisitPlan {
  readonly k: number;
  readonly index: number;
  readonly bookedAt: number;
  readonly startsAt: number;
  readonly endsAt: number;
  readonly windowStartsAt: number;
  readonly windowEndsAt: number;
  readonly canceled: boolean;
  readonly confirmed: boolean;
}

export interface JobCustomer {
  readonly account: number;
  readonly location: number;
  /** −1 when no contact is named. */
  readonly contact: number;
  readonly original: number | null;
}

/** The facts of a job that other records must agree with. Recomputed wherever they are needed. */
export interface JobPlan extends JobCustomer {
  readonly n: number;
  readonly id: string;
  readonly number: string;
  /** The job's actual type, even when the record does not name one. */
  readonly type: JobType;
  readonly jobType: Reference | null;
  readonly unit: Reference | null;
  readonly jobClass: Spelled<JobClass> | null;
  readonly lifecycle: Lifecycle;
  readonly bookedAt: number;
  readonly stage: Spelled<LifecycleStage>;
  readonly completedAt: number | null;
  readonly canceledAt: number | null;
  readonly visits: readonly VisitPlan[];
  readonly batch: number | null;
}

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

export type NightJobs = ReadonlyMap<number, Readonly<Record<'startsAt' | 'endsAt', number>>>;

/** The ground and its reference data, which is small. Everything else is derived record by record. */
export interface Company extends Ground {
  /** When jobs were booked, and when accounts were created. */
  readonly calendar: Calendar;
  readonly signups: Calendar;
  /** From this time on, only the board plans visits; Infinity without a board. */
  readonly planned: number;
  /** Number of jobs that the calendar has. Those after them are the board's, one for each of its slots. */
  readonly history: number;
  readonly board: readonly BoardSlot[];
  readonly units: readonly Unit[];
  readonly lifecycles: readonly Lifecycle[];
  readonly jobTypes: readonly JobType[];
  readonly leadSources: readonly LeadSource[];
  readonly tags: readonly Tag[];
  readonly members: Members;
  /** Visits per job, and assignments per visit. */
  readonly visitDeck: Deck;
  readonly crewSizes: Rota<number>;
  /** Job types by month of booking, each repeated by its weight. */
  readonly seasons: readonly (readonly JobType[])[];
  readonly nightJobs: NightJobs;
  jobAt(n: number): JobPlan;
  /** The job's value for a field that names a record at `path`: null when there is none, undefined when the job does not say. */
  saidBy(job: JobPlan, path: string, field: Field): Candidate | null | undefined;
  candidates(path: string, job: JobPlan): readonly Candidate[];
}
