import type { Company } from './company.ts';
import type { Ground } from './ground.ts';
import { BELIEVABLE, BUSINESS, resolveSeed, resolveSize, type CompanyShape, type DemoOptions } from './options.ts';
import { Deck, Rota } from './random.ts';
import { buildJobTypes, buildLeadSources, buildLifecycles, buildSeasons, buildTags, buildUnits } from './reference.ts';
import { DAYS_BEFORE, buildBoard } from './scheduling/board.ts';
import { signupCount } from './scheduling/customers.ts';
import { nightJobsOf, planJob } from './scheduling/job-plan.ts';
import { buildMembers } from './scheduling/team-members.ts';
import { candidates, saidBy } from './sources.ts';
import { Calendar, DAY, HOUR, Zone, parseInstant } from './time.ts';
import { citiesOf } from './words/places.ts';

const HISTORY_DAYS = 730;
const CLOCKED_DAYS = 28;
const BEFORE_HISTORY_DAYS = 1200;

export function buildCompany(options: DemoOptions, shape: CompanyShape = options.size === 'business' ? BUSINESS : BELIEVABLE): Company {
  const seed = resolveSeed(options.seed);
  const size = resolveSize(options.size);
  const until = parseInstant(options.until);
  const zone = new Zone(options.timezone, until - (HISTORY_DAYS + BEFORE_HISTORY_DAYS + 30) * DAY, until + 90 * DAY);
  const today = zone.day(until);
  const since = zone.startOfDay(today - HISTORY_DAYS);
  const founded = zone.startOfDay(today - HISTORY_DAYS - BEFORE_HISTORY_DAYS) + 9 * HOUR;
  const clockedSince = shape.busy ? zone.startOfDay(today - CLOCKED_DAYS) : since;
  const ground: Ground = { seed, size, shape, zone, cities: citiesOf(zone.name), founded, since, clockedSince, until, today };

  const units = buildUnits(ground);
  const lifecycles = buildLifecycles(ground);
  const tags = buildTags(ground);
  const jobTypes = buildJobTypes(ground, units, lifecycles);
  const seasons = buildSeasons(jobTypes);
  const members = buildMembers(ground, units, tags);
  const board = shape.busy ? buildBoard(ground, members, jobTypes, seasons) : [];
  const history = size.jobs - board.length;
  const end = shape.busy ? zone.startOfDay(today - DAYS_BEFORE) : until;
  const calendarOf = (count: number) => new Calendar(seed, zone, since, end, count, shape.busy && densityBefore);
  const calendar = calendarOf(history);
  const company: Company = {
    ...ground,
    calendar,
    signups: calendarOf(signupCount(size.accounts)),
    planned: shape.busy ? end : Infinity,
    history,
    board,
    units,
    lifecycles,
    tags,
    jobTypes,
    leadSources: buildLeadSources(ground),
    members,
    visitDeck: new Deck(shape.visits, board.length > 0 ? history : Infinity),
    crewSizes: Rota.ofNumbers('crew sizes', shape.crew),
    seasons,
    nightJobs: nightJobsOf(zone, calendar, since, end),
    jobAt: (n) => planJob(company, n),
    saidBy: (job, path, field) => saidBy(company, job, path, field),
    candidates: (path, job) => candidates(company, path, job),
  };
  return company;
}

/** Share of the bookings that a busy company's history holds: most of the last weeks', few of the months before. */
function densityBefore(days: number): number {
  return Math.max(0.06, 0.5 ** (days / 7));
}
