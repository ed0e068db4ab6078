// Sums days again whose facts have changed, and months some minutes after their days. Reports do not wait for it: they read the facts of
// days that are due. Any replica may take the next step.
import { countedDay, formatInstant, parseDate, startOfDay } from '@truckroll/contract';
import { binaryArrays, isContention, notFreezing, type Database, type Transaction } from '@truckroll/postgres';
import { PeriodicTask, logOutage, pause, type BackgroundPart } from '@truckroll/process';
import type { Logger, Metrics } from '@truckroll/telemetry';
import { DEFINITIONS, SUMMARIES_VERSION, factsWhere, type CompanyReport, type SummaryDefinition } from '../facts/definitions.ts';
import { refreshAfterSettings } from '../jobs/after-settings.ts';
import { SUMMED, localDaysOf, monthOf, type Summed } from './due.ts';
import { dateText, nearestDay } from './nearest.ts';
import { summingDays, summingMonth } from './statements.ts';

/** Facts per step, which is then a transaction of about a second: a longer one keeps dead rows. One day may have more. */
const FACTS = 30_000;
/** Days per step, which bounds its arrays. */
const DAYS = 366;
/** Time without a change after which a month is summed again from its days: that costs as much as hundreds of days. */
const QUIET_MS = 120_000;
/** Time after which a step begins no further month, in ms. */
const MONTHS_MS = 500;
/** Minimum time between rounds that only sum changes, in ms: those that arrive one by one are summed together. */
const BETWEEN_MS = 1000;
/** Poll interval when nothing is due, in ms: finds what another replica left, and what an operator's SQL changed. */
const REST_MS = 5000;
/** Wait after an error, in ms. */
const AGAIN_MS = 1000;
/** Age of a note, in seconds, at which a release sums days of a newer one: that one is gone, after a rollback. */
const ABANDONED_S = 60;

const REPORTS = DEFINITIONS.map(({ name }) => name);

export interface SumsTask extends BackgroundPart {
  /** Call it after a commit that changed facts. */
  look(): void;
}

/** `restMs` defaults to REST_MS. */
export function sumsTask(database: Database, log: Logger, metrics: Metrics, restMs = REST_MS): SumsTask {
  const summed = metrics.counter('report_sums_total', 'Days and months that were summed again because facts of theirs had changed', ['step']);
  const rounds: PeriodicTask = new PeriodicTask(
    restMs,
    async (signal) => {
      const startedAt = performance.now();
      let more = false;
      const steps = await sumRound(database, {
        signal,
        // At most half of the time.
        rest: (ms) => pause(ms, signal),
        did: ({ days, months, more: left }) => {
          more ||= left;
          summed.inc({ step: 'day' }, days);
          summed.inc({ step: 'month' }, months);
        },
      });
      if (steps === 0) return;
      if (!more) await pause(Math.max(0, BETWEEN_MS - (performance.now() - startedAt)), signal);
      rounds.now();
    },
    (error, failures) => logOutage(log, 'sums for reports could not be brought up to date; trying again', failures, error),
    AGAIN_MS,
  );
  return { ...rounds.asPart('sums'), look: () => rounds.now() };
}

interface Did {
  days: number;
  months: number;
  /** Whether there may be more to do that no further change would add to. */
  more: boolean;
}

export interface Round {
  readonly signal?: AbortSignal;
  /** Called after each step with the time that it took. */
  readonly rest?: (ms: number) => Promise<void>;
  readonly did?: (step: Did) => void;
  readonly quietMs?: number;
  /** Default: FACTS. */
  readonly facts?: number;
}

/** One step for each report of each company with something due. Resolves to the number of steps that changed something. */
export async function sumRound(database: Database, { signal, rest, did, quietMs = QUIET_MS, facts = FACTS }: Round = {}): Promise<number> {
  const refreshedAt = performance.now();
  let steps = await refreshAfterSettings(database, signal);
  if (steps > 0) {
    did?.({ days: 0, months: 0, more: true });
    await rest?.(performance.now() - refreshedAt);
  }
  // Its settings have not arrived yet, or its owner was restored to a time before it. Once they arrive, all of its days are due.
  await database.query({
    name: 'forget_unknown_companies',
    text: `with forgotten as (delete from summed s where not exists (select from companies c where c.company_id = s.company_id))
      delete from due_notes n where not exists (select from companies c where c.company_id = n.company_id)`,
  });
  await beginSums(database);
  const { rows } = await database.query<{ company_id: string; report: string }>({
    name: 'sums_due',
    text: `select s.company_id, s.report from summed s join companies c on c.company_id = s.company_id
      where s.report = any($1::text[]) and ${notFreezing('s.company_id')} and (s.due_before is not null or s.time_zone <> c.time_zone or s.version < ${SUMMARIES_VERSION}
        or exists (select from due_notes n where n.company_id = s.company_id and n.report = s.report)
        or exists (select from due_months m where m.company_id = s.company_id and m.report = s.report and m.changed_at <= now() - $2 * interval '1 ms'))`,
    values: [REPORTS, quietMs],
  });
  for (const { company_id: companyId, report } of rows) {
    signal?.throwIfAborted();
    const definition = DEFINITIONS.find(({ name }) => name === report) as SummaryDefinition;
    const startedAt = performance.now();
    const done = await database
      .transaction((tx) => step(tx, companyId, definition, quietMs, facts), { isolation: 'REPEATABLE READ' })
      .catch((error: unknown) => {
        // Another replica has taken the step since this one's snapshot.
        if (isContention(error)) return undefined;
        throw error;
      });
    if (done === undefined) continue;
    steps += 1;
    did?.(done);
    await rest?.(performance.now() - startedAt);
  }
  return steps;
}

/** All days of companies without sums are due. */
export async function beginSums(database: Database): Promise<void> {
  await database.query({
    name: 'begin_sums',
    text: `insert into summed (company_id, report, time_zone, version, due_before, due_version)
      select c.company_id, r.report, c.time_zone, ${SUMMARIES_VERSION}, 'infinity', 0 from companies c cross join unnest($1::text[]) r(report)
      where not exists (select from summed s where s.company_id = c.company_id and s.report = r.report)
        and ${notFreezing('c.company_id')} on conflict do nothing`,
    values: [REPORTS],
  });
}

/** Undefined if another replica is at it, or nothing was due any more. */
async function step(tx: Transaction, companyId: string, summary: SummaryDefinition, quietMs: number, facts: number): Promise<Did | undefined> {
  const held = await hold(tx, companyId, summary.name);
  if (held === undefined) return undefined;
  await tx.query({
    name: 'plans_for_sums',
    // Rows that go are found by hashing: the planner expects few, and would compare all with all.
    text: `select set_config('work_mem', '64MB', true), set_config('enable_nestloop', 'off', true), set_config('plan_cache_mode', 'force_custom_plan', true)`,
  });
  const report = { summary, companyId, timeZone: held.timeZone };
  const noted = await notedDays(tx, report, facts);
  const passed = held.dueBefore > -Infinity ? await daysBefore(tx, report, held.dueBefore, facts) : undefined;
  const dueBefore = passed === undefined || passed.done ? -Infinity : passed.before;
  const days = [...new Set([...noted.days.filter((day) => day >= dueBefore), ...(passed?.days ?? [])])].sort((a, b) => a - b);
  if (days.length > 0) await sumDays(tx, report, days);
  const unchanged = days.filter((day) => !noted.days.includes(day));
  await dueMonths(tx, report, unchanged, noted.days);
  if (noted.utcDays.length > 0) {
    await tx.query({
      name: 'forget_notes',
      text: 'delete from due_notes where company_id = $1 and report = $2 and day = any($3::date[])',
      values: [companyId, summary.name, noted.utcDays],
    });
  }
  let months = 0;
  for (const startedAt = performance.now(); performance.now() - startedAt < MONTHS_MS && (await sumQuietMonth(tx, report, dueBefore, quietMs)); ) months += 1;
  if (days.length === 0 && months === 0 && passed === undefined && noted.utcDays.length === 0) return undefined;
  await tx.query({
    name: 'sums_proceed',
    text: 'update summed set time_zone = $3, version = $4, due_before = $5, due_version = $6, summed_at = now() where company_id = $1 and report = $2',
    values: [companyId, summary.name, held.timeZone, held.version, dueBefore === -Infinity ? null : dateText(dueBefore), held.dueVersion],
  });
  return { days: days.length, months, more: dueBefore > -Infinity || months > 0 };
}

/**
 * Locks what the sums are of, if no other replica has. A changed time zone or a newer version makes all days due. The lock is of a row that
 * each step writes, so a step whose snapshot is from before another one's commit fails.
 */
async function hold(tx: Transaction, companyId: string, report: string): Promise<Summed | undefined> {
  const { rows } = await tx.query<Summed & { time_zone: string; abandoned: boolean }>({
    name: 'hold_sums',
    text: `select c.time_zone, ${SUMMED},
        coalesce((select min(noted_at) from due_notes n where n.company_id = s.company_id and n.report = s.report), s.summed_at)
          < now() - interval '${ABANDONED_S} s' as abandoned
      from summed s join companies c on c.company_id = s.company_id where s.company_id = $1 and s.report = $2 for update of s skip locked`,
    values: [companyId, report],
  });
  const [row] = rows;
  if (row === undefined) return undefined;
  const { time_zone: timeZone, abandoned, ...summed } = row;
  if (summed.version > SUMMARIES_VERSION && !abandoned) return undefined;
  const due = { timeZone, version: SUMMARIES_VERSION, dueBefore: Infinity };
  if (summed.timeZone !== timeZone) return { ...due, dueVersion: 0 };
  // The oldest version that any day has.
  const oldest = summed.dueBefore === -Infinity ? summed.version : Math.min(summed.version, summed.dueVersion);
  if (summed.version < SUMMARIES_VERSION) return { ...due, dueVersion: oldest };
  return { ...summed, version: SUMMARIES_VERSION };
}

/** The newest dates with notes whose days have at most `facts` facts together; the newest date in any case. */
async function notedDays(tx: Transaction, report: CompanyReport, facts: number): Promise<{ utcDays: string[]; days: number[] }> {
  const { rows } = await tx.query<{ day: string }>({
    name: 'noted_days',
    text: `select distinct day::text as day from due_notes where company_id = $1 and report = $2 order by day desc limit ${DAYS}`,
    values: [report.companyId, report.summary.name],
  });
  const dates = rows.map(({ day }) => ({ day, local: localDaysOf(parseDate(day) as number, report.timeZone) }));
  const last = dates[0]?.local.at(-1);
  if (last === undefined) return { utcDays: [], days: [] };
  const first = await firstDayWithin(tx, report, last, facts);
  const taken = dates.filter(({ local }, i) => i === 0 || (local[0] as number) >= first);
  return { utcDays: taken.map(({ day }) => day), days: [...new Set(taken.flatMap(({ local }) => local))] };
}

/** The first day such that it and those up to `last` have at most `most` facts together; -Infinity if all earlier ones have. */
async function firstDayWithin(tx: Transaction, { summary, companyId, timeZone }: CompanyReport, last: number, most: number): Promise<number> {
  const { rows } = await tx.query<{ at: number | null }>({
    name: `instant_before_${summary.name}`,
    text: `select max(at) as at from (${factsWhere(summary, 'f.company_id = $1 and f.at < $2', 'f.at', 'order by f.at desc offset $3 limit 1')}) each`,
    values: [companyId, formatInstant(startOfDay(last + 1, timeZone)), most],
  });
  const at = rows[0]?.at ?? null;
  return at === null ? -Infinity : Math.min(last, countedDay(at, timeZone) + 1);
}

interface Passed {
  days: number[];
  /** Days before it are still due. */
  before: number;
  done: boolean;
}

/** The last days before `before` with facts or with sums, which may be of another time zone. */
async function daysBefore(tx: Transaction, report: CompanyReport, before: number, facts: number): Promise<Passed> {
  const last = await nearestDay(tx, report, 'before', before);
  if (last === undefined) return { days: [], before, done: true };
  const first = Math.max(last - DAYS + 1, await firstDayWithin(tx, report, last, facts));
  return { days: Array.from({ length: last - first + 1 }, (_, i) => first + i), before: first, done: false };
}

async function sumDays(tx: Transaction, { summary, companyId, timeZone }: CompanyReport, days: readonly number[]): Promise<void> {
  await tx.query({
    name: `sum_days_of_${summary.name}`,
    text: summingDays(summary),
    values: [companyId, binaryArrays.day(days), ...[0, 1].map((later) => binaryArrays.timestamptz(days.map((day) => startOfDay(day + later, timeZone))))],
  });
}

/** Months of days that were summed for the first time need not wait: nothing has changed them. */
async function dueMonths(tx: Transaction, { summary, companyId }: CompanyReport, passed: readonly number[], noted: readonly number[]): Promise<void> {
  const months = (days: readonly number[]): Buffer => binaryArrays.day([...new Set(days.map(monthOf))]);
  await tx.query({
    name: 'months_due',
    text: `insert into due_months as m (company_id, report, month, changed_at)
      select $1, $2, month, max(changed_at) from (select month, timestamptz '-infinity' from unnest($3::date[]) month union all select month, now() from unnest($4::date[]) month) d(month, changed_at)
      group by month on conflict (company_id, report, month) do update set changed_at = greatest(m.changed_at, excluded.changed_at)`,
    values: [companyId, summary.name, months(passed), months(noted)],
  });
}

/** Sums the newest month that is due and quiet; returns whether there was one. */
async function sumQuietMonth(tx: Transaction, { summary, companyId }: CompanyReport, dueBefore: number, quietMs: number): Promise<boolean> {
  const { rows } = await tx.query<{ month: string; next: string }>({
    name: 'quiet_month',
    text: `delete from due_months where company_id = $1 and report = $2 and month = (
        select month from due_months where company_id = $1 and report = $2 and month >= $3 and changed_at <= now() - $4 * interval '1 ms' order by month desc limit 1)
      returning month::text, (month + interval '1 month')::date::text as next`,
    values: [companyId, summary.name, dateText(dueBefore), quietMs],
  });
  const [month] = rows;
  if (month === undefined) return false;
  await tx.query({ name: `sum_month_of_${summary.name}`, text: summingMonth(summary), values: [companyId, month.month, month.next] });
  return true;
}
