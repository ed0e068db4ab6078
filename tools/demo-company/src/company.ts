import type { Field } from '@truckroll/contract';
import type { Candidate, Ground } from './ground.ts';
import type { Deck } from './random/deck.ts';
import type { Rota } from './random/rota.ts';
import type { Unit } from './reference/business-units.ts';
import type { Lifecycle } from './reference/job-lifecycles.ts';
import type { JobType } from './reference/job-types.ts';
import type { LeadSource } from './reference/lead-sources.ts';
import type { Tag } from './reference/tags.ts';
import type { NightJobs } from './scheduling/night-jobs.ts';
import type { JobPlan } from './plans.ts';
import type { Slot } from './scheduling/board.ts';
import type { Members } from './scheduling/team-members.ts';
import type { Calendar } from './time/calendar.ts';

/** The ground and its reference data, which is small. Everything else is derived record by record. */
export interface Company extends Ground {
  /** When jobs were booked, and when accounts were created. */
  readonly calendar: Calendar;
  readonly signups: Calendar;
  /** From this time on, only the board plans visits; Infinity without a board. */
  readonly planned: number;
  /** Number of jobs that the calendar has. Those after them are the board's, one for each of its slots. */
  readonly history: number;
  readonly board: readonly Slot[];
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
