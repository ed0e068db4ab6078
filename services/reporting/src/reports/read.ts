import { formatInstant, startOfLocalDate } from '@truckroll/contract';
import type { Queryable, Statement } from '@truckroll/postgres';
import { measuresOf, type SummaryDefinition } from '../facts/definitions.ts';
import { dateOf, daysIn, partsOf, type Period } from './periods.ts';
import { fromCombinations, fromFacts, fromSummary, pairOf, partOf, sumsFor, type Bind, type ReportQuestion } from './sources.ts';

/** Sums of one group in one period; `value` is '' for ungrouped sums. */
export interface Sums {
  start: string;
  value: string;
  /** In the order of measuresOf. */
  measures: readonly bigint[];
}

const FIRST = '';

interface Segment {
  start: string;
  key: string;
  until: string;
  after: string;
}

/**
 * Statement for the sums of the given periods in order, at most `most` groups. Ungrouped sums need no limit, as each period has at most
 * one. In the first period, only groups after `after` count.
 */
export function keyedStatement(question: ReportQuestion, periods: readonly Period[], after: string, most: number | undefined): Statement {
  const values: unknown[] = [];
  const bind: Bind = (value, type) => `$${values.push(value)}::${type}`;
  const kept = sumsFor(question);
  const months: Segment[] = [];
  const days: Segment[] = [];
  const spans: Segment[] = [];
  periods.forEach((period, i) => {
    const place = { start: dateOf(period.start), after: i === 0 ? after : FIRST, until: '' };
    const { months: whole, days: edges } = kept === null ? { months: [], days: [period] } : partsOf(period);
    months.push(...whole.map((day) => ({ ...place, key: dateOf(day) })));
    for (const edge of edges) {
      if (kept === 'summary') days.push(...daysIn(edge).map((day) => ({ ...place, key: dateOf(day) })));
      else spans.push({ ...place, ...instantsOf(edge, question.timeZone) });
    }
  });
  const joined = (segments: readonly Segment[], type: string, source: string): string => {
    const columns = [
      segments.map(({ start }) => start),
      segments.map(({ key }) => key),
      segments.map(({ until }) => until || null),
      segments.map((segment) => segment.after),
    ];
    const types = ['date', type, 'timestamptz', 'text'];
    const given = columns.map((column, i) => bind(column, `${types[i] as string}[]`)).join(', ');
    return `select s.start, p.* from unnest(${given}) s(start, key, until, after) cross join lateral (${source}) p`;
  };
  const parts: string[] = [];
  if (months.length > 0) {
    const source = kept === 'summary' ? fromSummary(question, 'month', most, bind) : fromCombinations(question, most, bind);
    parts.push(joined(months, 'date', source));
  }
  if (days.length > 0) parts.push(joined(days, 'date', fromSummary(question, 'day', most, bind)));
  if (spans.length > 0) parts.push(joined(spans, 'timestamptz', fromFacts(question, most, bind)));
  const counted = question.summary.counts.map((name) => `sum(${name})`).join(' + ');
  return {
    text: `select start::text, value, ${summed(question.summary)} from (${parts.join(' union all ')}) u
      group by u.start, u.value having ${counted} > 0 order by u.start, u.value collate "C" ${most === undefined ? '' : `limit ${most}`}`,
    values,
  };
}

function instantsOf({ start, end }: Period, timeZone: string): { key: string; until: string } {
  const [key, until] = [start, end].map((day) => formatInstant(startOfLocalDate(dateOf(day), timeZone)));
  return { key: key as string, until: until as string };
}

/**
 * Statement for the sums of consecutive days or whole months in the order of the response, at most `most` rows: one walk along a key.
 * Months may also be filtered by one value of another dimension (`pairOf`).
 */
export function walkStatement(question: ReportQuestion, step: 'day' | 'month', from: Position, end: string, most: number): Statement {
  const { summary, companyId, generation, standings, groupBy } = question;
  const pair = pairOf(question);
  const [table, value, of] = pair === undefined ? [summary.table, 'value', 'part'] : [summary.combinations, groupBy as string, pair.filter];
  return {
    name: `walk_${table}_of_${of}_by_${value}`,
    text: `select period::text as start, ${value} as value, ${summed(summary)} from ${table}
      where company_id = $1 and generation = $2 and ${of} = $3 and (period, ${value}) > ($4::date, $5::text) and period < $6::date
        and standing = any($7::text[])
      group by period, ${value} order by period, ${value} limit $8`,
    values: [companyId, generation, pair?.value ?? partOf(question, step), from.start, from.value, end, standings, most],
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
