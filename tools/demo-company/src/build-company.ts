import type { Company } from './company.ts';
import type { Ground } from './ground.ts';
import { BELIEVABLE, resolveSeed, resolveSize, resolveUntil, type DemoOptions, type CompanyShape } from './options.ts';
import { Deck } from './random/deck.ts';
import { Rota } from './random/rota.ts';
import { buildUnits } from './reference/business-units.ts';
import { buildLifecycles } from './reference/job-lifecycles.ts';
import { buildJobTypes, buildSeasons } from './reference/job-types.ts';
import { buildLeadSources } from './reference/lead-sources.ts';
import { buildTags } from './reference/tags.ts';
import { signupCount } from './scheduling/customers.ts';
import { planJob } from './scheduling/job-plan.ts';
import { nightJobsOf } from './scheduling/night-jobs.ts';
import { buildMembers } from './scheduling/team-members.ts';
import { candidates, saidBy } from './sources.ts';
import { Calendar } from './time/calendar.ts';
import { DAY, HOUR } from './time/instant.ts';
import { Zone } from './time/zone.ts';
import { citiesOf } from './words/places.ts';

const HISTORY_DAYS = 730;
const BEFORE_HISTORY_DAYS = 1200;

export function buildCompany(options: DemoOptions, shape: CompanyShape = BELIEVABLE): Company {
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
  const company: Company = {
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
    jobAt: (n) => planJob(company, n),
    saidBy: (job, path, field) => saidBy(company, job, path, field),
    candidates: (path, job) => candidates(company, path, job),
  };
  return company;
}
