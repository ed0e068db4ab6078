import { formatInstant, startOfDay } from '@truckroll/contract';
import type { Queryable, Statement } from '@truckroll/postgres';
import { measuresOf, type SummaryDefinition } from '../facts/definitions.ts';
import { monthAfter, type DuePeriods } from '../sums/due.ts';
import { dateOf, daysIn, partsOf, type Period } from './periods.ts';
import type { SumStep } from '../sums/statements.ts';
import { fromCrosses, fromFacts, fromSums, pairOf, partOf, sumsFor, type Bind, type ReportQuestion } from './sources.ts';

/** Sums of one group in one period; `value` is '' for ungrouped sums. */
export interface Sums {
  start: string;
  value: string;
  /** In the order of measuresOf. */
  measures: readonly bigint[];
}

/** What one source reads at a time: by the day or month `key`, or the instants from `key` to `until`. */
type Segment = [start: string, key: string, until: string | null, after: string];

/**
 * Statement for the sums of the given periods in order, at most `most` groups. Ungrouped sums need no limit, as each period has at most
 * one. In the first period, only groups after `after` count.
 */
export function keyedStatement(question: ReportQuestion, periods: readonly Period[], after: string, most: number | undefined): Statement {
  const values: unknown[] = [];
  const bind: Bind = (value, type) => `$${values.push(value)}::${type}`;
  const instantOf = (day: number): string => formatInstant(startOfDay(day, question.timeZone));
  const kept = sumsFor(question);
  const months: Segment[] = [];
  const days: Segment[] = [];
  const spans: Segment[] = [];
  periods.forEach((period, i) => {
    const segment = (key: string, until: string | null = null): Segment => [dateOf(period.start), key, until, i === 0 ? after : ''];
    const parts = kept === null ? { months: [], days: [], facts: [period] } : partsNotDue(period, question.due);
    months.push(...parts.months.map((day) => segment(dateOf(day))));
    days.push(...parts.days.map((day) => segment(dateOf(day))));
    spans.push(...parts.facts.map(({ start, end }) => segment(instantOf(start), instantOf(end))));
  });
  const joined = (segments: readonly Segment[], type: string, source: string): string => {
    const given = ['date', type, 'timestamptz', 'text'].map((of, i) =>
      bind(
        segments.map((segment) => segment[i]),
        `${of}[]`,
      ),
    );
    return `select s.start, p.* from unnest(${given.join(', ')}) s(start, key, until, after) cross join lateral (${source}) p`;
  };
  const parts: string[] = [];
  const source = kept === 'crosses' ? fromCrosses : fromSums;
  if (months.length > 0) parts.push(joined(months, 'date', source(question, 'month', most, bind)));
  if (days.length > 0) parts.push(joined(days, 'date', source(question, 'day', most, bind)));
  if (spans.length > 0) parts.push(joined(spans, 'timestamptz', fromFacts(question, most, bind)));
  const counted = question.summary.counts.map((name) => `sum(${name})`).join(' + ');
  return {
    text: `select start::text, value, ${summed(question.summary)} from (${parts.join(' union all ')}) u
      group by u.start, u.value having ${counted} > 0 order by u.start, u.value collate "C" ${most === undefined ? '' : `limit ${most}`}`,
    values,
  };
}

/** What covers a period: months and days by their first days, and the stretches of days whose facts are read. */
function partsNotDue(period: Period, due: DuePeriods): { months: number[]; days: number[]; facts: Period[] } {
  const { months, days } = partsOf(period);
  const single = [...days, ...months.filter((month) => due.hasMonth(month)).map((month): Period => ({ start: month, end: monthAfter(month) }))];
  return {
    months: months.filter((month) => !due.hasMonth(month)),
    days: single.flatMap(daysIn).filter((day) => !due.hasDay(day)),
    facts: single.flatMap(({ start, end }) => due.stretches(start, end)),
  };
}

/**
 * Statement for the sums of consecutive days or whole months in the order of the response, at most `most` rows: one walk along a key.
 * Months may also be filtered by one value of another dimension (`pairOf`).
 */
export function walkStatement(question: ReportQuestion, step: SumStep, from: Position, end: string, most: number): Statement {
  const { summary, companyId, standings, groupBy } = question;
  const pair = pairOf(question);
  const [table, value, of] = pair === undefined ? [summary.sums, 'value', 'part'] : [summary.crosses, groupBy as string, `step = 'month' and ${pair.filter}`];
  return {
    name: `walk_${table}_of_${pair?.filter ?? 'part'}_by_${value}`,
    text: `select period::text as start, ${value} as value, ${summed(summary)} from ${table}
      where company_id = $1 and ${of} = $2 and (period, ${value}) > ($3::date, $4::text) and period < $5::date and standing = any($6::text[])
      group by period, ${value} order by period, ${value} limit $7`,
    values: [companyId, pair?.value ?? partOf(question, step), from.start, from.value, end, standings, most],
  };
}

export interface Position {
  start: string;
  value: string;
}

/** Returns all measures as one column: transferring a column costs more than computing a sum. */
function summed(summary: SummaryDefinition): string {
  return `concat_ws(' ', ${measuresOf(summary)
    .map((name) => `sum(${name})`)
    .join(', ')}) as measures`;
}

export async function readSums(db: Queryable, statement: Statement): Promise<Sums[]> {
  const { rows } = await db.query<{ start: string; value: string; measures: string }>(statement);
  return rows.map(({ start, value, measures }) => ({ start, value, measures: measures.split(' ').map(BigInt) }));
}
