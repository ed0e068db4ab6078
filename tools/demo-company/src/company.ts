import { Draw, uuid, type Stream } from './random/keyed.ts';
import {
  BELIEVABLE,
  resolveSeed,
  resolveSize,
  resolveUntil,
  type DemoOptions,
  type Shape,
  type Size,
} from './options.ts';
import { Deck } from './random/deck.ts';
import { Rota } from './random/rota.ts';
import { buildLeadSources, type LeadSource } from './reference/lead-sources.ts';
import { buildLifecycles, type Lifecycle } from './reference/job-lifecycles.ts';
import { buildJobTypes, buildSeasons, type JobType } from './reference/job-types.ts';
import { buildTags, type Tag } from './reference/tags.ts';
import { buildUnits, type Unit } from './reference/business-units.ts';
import { signupCount } from './scheduling/accounts.ts';
import { nightJobsOf, type NightJobs } from './scheduling/night-jobs.ts';
import { buildMembers, type Members } from './scheduling/team-members.ts';
import { Calendar } from './time/calendar.ts';
import { DAY, HOUR } from './time/instant.ts';
import { Zone } from './time/zone.ts';
import { citiesOf, type City } from './words/places.ts';

export interface Reference {
  readonly id: string;
  readonly name: string;
}

/** What is known before the first record. */
export interface Ground {
  readonly seed: number;
  readonly size: Size;
  readonly shape: Shape;
  readonly zone: Zone;
  readonly cities: readonly City[];
  /** Accounts reach back to here, jobs to `since`; nothing is recorded after `until`. */
  readonly founded: number;
  readonly since: number;
  readonly until: number;
  /** Company-local day number of `until`. */
  readonly today: number;
}

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

const HISTORY_DAYS = 730;
const BEFORE_HISTORY_DAYS = 1200;

export function buildCompany(options: DemoOptions, shape: Shape = BELIEVABLE): Company {
  const seed = resolveSeed(options.seed);
  const size = resolveSize(options.size);
  const until = resolveUntil(options.until);
  const zone = new Zone(options.timezone, until - (HISTORY_DAYS + BEFORE_HISTORY_DAYS + 30) * DAY, until + 90 * DAY);
  const today = zone.day(until);
  const since = zone.startOfDay(today - HISTORY_DAYS);
  const founded = zone.startOfDay(today - HISTORY_DAYS - BEFORE_HISTORY_DAYS) + 9 * HOUR;
  const ground: Ground = { seed, size, shape, zone, cities: citiesOf(zone.name), founded, since, until, today };

  const units = buildUnits(ground);
  const lifecycles = buildLifecycles(ground);
  const tags = buildTags(ground);
  const calendar = new Calendar(seed, zone, since, until, size.jobs);
  const jobTypes = buildJobTypes(ground, units, lifecycles);
  return {
    ...ground,
    calendar,
    signups: new Calendar(seed, zone, since, until, signupCount(size.accounts)),
    units,
    lifecycles,
    tags,
    jobTypes,
    leadSources: buildLeadSources(ground),
    members: buildMembers(ground, units, tags),
    visitDeck: new Deck(shape.visits),
    crewSizes: new Rota('crew sizes', shape.crew),
    seasons: buildSeasons(jobTypes),
    nightJobs: nightJobsOf(zone, calendar, since, until),
  };
}

export function idOf(of: Pick<Ground, 'seed'>, kind: Stream, a: number, b = 0): string {
  return uuid(of.seed, kind, a, b);
}

export function drawOf(of: Pick<Ground, 'seed'>, kind: Stream, a: number, b = 0): Draw {
  return new Draw(of.seed, kind, a, b);
}
