// Compares reports with their sources: job facts with read models, sums that are not due with facts.
import { startOfDay } from '@truckroll/contract';
import type { ReportDifference, VerifyReportsResponse } from '@truckroll/contract/gen/reporting/v1/admin';
import { binaryArrays, type Database, type Queryable } from '@truckroll/postgres';
import { streamOf } from '@truckroll/process';
import { DEFINITIONS, JOBS, NONE, SUMMARIES_VERSION, measuresOf, type CompanyReport, type SummaryDefinition } from '../facts/definitions.ts';
import { jobsAfter, wrongJobFacts } from '../facts/jobs.ts';
import { DUE_DATES, SUMMED, dueOf, monthAfter, monthOf, type DueDates, type Summed } from './due.ts';
import { differing, type SumStep } from './statements.ts';
import { nearestDay } from './nearest.ts';

const BATCH = 2000;
const MAX_REPORTED = 1000;

interface Month {
  /** First day of the month after it. */
  readonly next: number;
  readonly facts: number;
  readonly sums: number;
  readonly differences: readonly ReportDifference[];
}

type Snapshot = <T>(work: (tx: Queryable) => Promise<T>) => Promise<T>;

/**
 * Verifies in slices: jobs by id, sums by month. Each slice has a separate snapshot, so none keeps dead rows for long. Sums that are due are
 * not compared. The last response has `built: false` if all sums of a report are due.
 */
export function verifyReports(database: Pick<Database, 'transaction'>, companyId: string, signal: AbortSignal): AsyncIterable<VerifyReportsResponse> {
  return streamOf(async (emit) => {
    const snapshot: Snapshot = (work) => database.transaction(work, { isolation: 'REPEATABLE READ', readOnly: true, signal });
    const differences: ReportDifference[] = [];
    let [facts, sums] = [0, 0];
    for (let after: string | null | undefined = null; after !== undefined; ) {
      const from: string | null = after;
      const { ids, wrong }: Jobs = await snapshot((tx) => verifyJobs(tx, companyId, from));
      const difference = 'what it brings in is not what its read models come to';
      differences.push(...wrong.map((id) => ({ report: JOBS.report, period: '', group: `job ${id}`, difference })));
      after = ids.length < BATCH ? undefined : ids.at(-1);
    }
    for (const definition of DEFINITIONS) {
      for (let from = -Infinity; ; ) {
        const slice = await snapshot((tx) => verifyMonth(tx, companyId, definition, from));
        if (slice === 'due') return emit({ facts: 0, sums: 0, built: false, differences: [] });
        if (slice === 'done') break;
        facts += slice.facts;
        sums += slice.sums;
        differences.push(...slice.differences);
        emit({ facts, sums, built: true, differences: [] });
        from = slice.next;
      }
    }
    emit({ facts, sums, built: true, differences: differences.slice(0, MAX_REPORTED) });
  });
}

type Jobs = Record<'ids' | 'wrong', string[]>;

async function verifyJobs(tx: Queryable, companyId: string, after: string | null): Promise<Jobs> {
  const ids = await jobsAfter(tx, companyId, after, BATCH);
  return { ids, wrong: await wrongJobFacts(tx, companyId, ids) };
}

/** The first month from a day on with facts or sums; 'due' while all days are due. */
async function verifyMonth(tx: Queryable, companyId: string, definition: SummaryDefinition, from: number): Promise<Month | 'due' | 'done'> {
  const { rows } = await tx.query<Summed & DueDates & { time_zone: string }>({
    name: 'sums_to_verify',
    text: `select c.time_zone, ${SUMMED}, ${DUE_DATES}
      from summed s join companies c on c.company_id = s.company_id where s.company_id = $1 and s.report = $2`,
    values: [companyId, definition.name],
  });
  const [row] = rows;
  if (row === undefined) return 'due';
  const { time_zone: timeZone } = row;
  const due = dueOf(row, timeZone, SUMMARIES_VERSION, row);
  if (due.next('day', -Infinity, Infinity) === -Infinity) return 'due';
  const report = { summary: definition, companyId, timeZone };
  const first = await nearestDay(tx, report, 'from', from);
  if (first === undefined) return 'done';
  const month = monthOf(first);
  const next = monthAfter(month);
  const days = Array.from({ length: next - month }, (_, i) => month + i).filter((day) => !due.hasDay(day));
  const ofDays = await compare(tx, report, 'day', days);
  const ofMonth = await compare(tx, report, 'month', due.hasMonth(month) ? [] : [month]);
  return { facts: ofDays.facts, sums: ofDays.sums + ofMonth.sums, differences: [...ofDays.differences, ...ofMonth.differences], next };
}

type Row = Record<string, string | null>;

async function compare(tx: Queryable, { summary, companyId, timeZone }: CompanyReport, step: SumStep, starts: readonly number[]): Promise<Omit<Month, 'next'>> {
  if (starts.length === 0) return { facts: 0, sums: 0, differences: [] };
  const instants = (of: readonly number[]): Buffer => binaryArrays.timestamptz(of.map((day) => startOfDay(day, timeZone)));
  const ends = starts.map((day) => (step === 'day' ? day + 1 : monthAfter(day)));
  const values = [companyId, binaryArrays.day(starts), instants(starts), instants(ends)];
  let [facts, sums] = [0, 0];
  const differences: ReportDifference[] = [];
  for (const from of ['sums', 'crosses'] as const) {
    const { rows } = await tx.query<Row & { facts: number; sums: number }>({
      name: `verify_${from}_of_${summary.name}_by_${step}`,
      text: differing(summary, step, from),
      values,
    });
    for (const { facts: counted, sums: expected, ...row } of rows) {
      if (row['period'] === null) [facts, sums] = [Number(counted), sums + Number(expected)];
      else differences.push(differenceOf(summary, row));
    }
  }
  return { facts, sums, differences };
}

function differenceOf(definition: SummaryDefinition, row: Row): ReportDifference {
  const texts = measuresOf(definition).flatMap((measure) => {
    const [has, should] = [row[`has_${measure}`] ?? null, row[`should_${measure}`] ?? null];
    return (has ?? '0') === (should ?? '0') ? [] : [`${measure} is ${has ?? 'not there'}, should be ${should ?? 'not there'}`];
  });
  return { report: definition.report, ...placeOf(definition, row as Record<string, string>), difference: texts.join('; ') || 'a row of zeros' };
}

function placeOf({ few }: SummaryDefinition, { part, step, value, period, standing, ...values }: Record<string, string>): { period: string; group: string } {
  const shown = (dimension: string, of = ''): string => `${dimension} ${of === NONE ? 'none' : of}`;
  const [dimension, size] = part === undefined ? [undefined, step] : part.includes('/') ? part.split('/') : ['', part];
  const group = dimension === undefined ? few.map((name) => shown(name, values[name])).join(', ') : dimension === '' ? 'all' : shown(dimension, value);
  return {
    period: size === 'month' ? (period as string).slice(0, -'-01'.length) : (period as string),
    group: standing === '' ? group : `${group}, ${standing as string}`,
  };
}
