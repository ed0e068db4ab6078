import type { Ground } from './ground.ts';
import type { Deck } from './random/deck.ts';
import type { Rota } from './random/rota.ts';
import type { Unit } from './reference/business-units.ts';
import type { Lifecycle } from './reference/job-lifecycles.ts';
import type { JobType } from './reference/job-types.ts';
import type { LeadSource } from './reference/lead-sources.ts';
import type { Tag } from './reference/tags.ts';
import type { NightJobs } from './scheduling/night-jobs.ts';
import type { Members } from './scheduling/team-members.ts';
import type { Calendar } from './time/calendar.ts';

/** The ground and its reference data, which is small; all else is derived record by record. */
export interface Company extends Ground {
  /** When jobs were booked, and when accounts came. */
  readonly calendar: Calendar;
  readonly signups: Calendar;
  readonly units: readonly Unit[];
  readonly lifecycles: readonly Lifecycle[];
  readonly jobTypes: readonly JobType[];
  readonly leadSources: readonly LeadSource[];
  readonly tags: readonly Tag[];
  readonly members: Members;
  /** How many visits a job has, and how many assignments a visit has. */
  readonly visitDeck: Deck;
  readonly crewSizes: Rota<number>;
  /** Job types by the month of booking, each as often as its weight. */
  readonly seasons: readonly (readonly JobType[])[];
  readonly nightJobs: NightJobs;
}
