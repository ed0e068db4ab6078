// Refuses reports with 503 while too many facts are due, or while rows of the read models lack what is new in this release (docs/adr/0021).
import { ApiError, formatInstant, startOfDay } from '@truckroll/contract';
import type { Queryable } from '@truckroll/postgres';
import { countBehind } from '@truckroll/record-store';
import { factsWhere } from '../facts/definitions.ts';
import type { Period } from './periods.ts';
import { RETRY_AFTER } from './settings.ts';
import type { ReportQuestion } from './sources.ts';

/** Facts that a report adds up itself: most of what 150 ms allow for. */
export const MOST_DUE = 100_000;

/** The SUMMARIES_VERSION that sums must have for a question. */
export function neededVersion(question: Pick<ReportQuestion, 'summary' | 'groupBy' | 'filters'>): number {
  return Math.max(1, ...news(question).map(([, { version }]) => version));
}

function news({ summary, groupBy, filters }: Pick<ReportQuestion, 'summary' | 'groupBy' | 'filters'>) {
  const needed = [groupBy, ...filters.keys(), ...summary.counts, ...summary.cents];
  return Object.entries(summary.since ?? {}).filter(([name]) => needed.includes(name));
}

/** Throws 503 if rows lack a dimension or measure that the question needs, or if more than `most` facts of the range are due. */
export async function passGate(db: Queryable, question: ReportQuestion, range: Period, most = MOST_DUE): Promise<void> {
  for (const [name, { rows = {} }] of news(question)) {
    for (const [table, version] of Object.entries(rows)) {
      if ((await countBehind(db, { table, version }, question.companyId, 1)) === 0) continue;
      refuse(`${name} is new in this report, and older records are still being read again for it. Reports that do not need it work.`);
    }
  }
  const stretches = question.due.stretches(range.start, range.end);
  if (stretches.length === 0 || question.standings.length === 0) return;
  const instants = (days: readonly number[]): string[] => days.map((day) => formatInstant(startOfDay(day, question.timeZone)));
  const { rows } = await db.query<{ facts: number }>({
    name: `facts_due_of_${question.summary.name}`,
    text: `select count(*) as facts from (select from unnest($2::timestamptz[], $3::timestamptz[]) d(start, until)
      cross join lateral (${factsWhere(question.summary, 'f.company_id = $1 and f.at >= d.start and f.at < d.until', '')}) f limit $4) due`,
    values: [question.companyId, instants(stretches.map(({ start }) => start)), instants(stretches.map(({ end }) => end)), most + 1],
  });
  if ((rows[0]?.facts ?? 0) > most) refuse(`More than ${most.toLocaleString('en-US')} facts of this range are being added up.`);
}

function refuse(why: string): never {
  throw new ApiError('INTERNAL_ERROR', `${why} Try again after the time in Retry-After.`, { status: 503, retryAfterSeconds: RETRY_AFTER });
}
