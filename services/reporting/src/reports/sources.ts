// Kept sums of months and days if they answer the question and are not due, facts otherwise. Each source is a SELECT of (value, measures…)
// for one key, used in a lateral join.
import { NONE, factsWhere, measuresOf, type CompanyReport, type SummaryDefinition } from '../facts/definitions.ts';
import type { DuePeriods } from '../sums/due.ts';
import type { SumStep } from '../sums/statements.ts';

export interface ReportQuestion extends CompanyReport {
  /** What to read from facts. */
  due: DuePeriods;
  groupBy: string | null;
  filters: ReadonlyMap<string, readonly string[]>;
  /** Standings that count; empty if the company's settings exclude everything. */
  standings: readonly string[];
}

/** Adds a parameter and returns its placeholder. */
export type Bind = (value: unknown, type: string) => string;

const CODES: readonly string[] = ['job_class', 'payment_method'];

/** Which kept sums answer a question: 'sums' for at most one dimension, 'crosses' for several with few values; null if only facts can. */
export function sumsFor({ summary, groupBy, filters }: ReportQuestion): 'sums' | 'crosses' | null {
  const dimensions = new Set([...filters.keys(), ...(groupBy === null ? [] : [groupBy])]);
  if (dimensions.size === 0 && summary.whole) return 'sums';
  if (dimensions.size === 1) return 'sums';
  return [...dimensions].every((dimension) => summary.few.includes(dimension)) ? 'crosses' : null;
}

/** For a question grouped by one dimension and filtered by one value of another, both with few values: that filter. */
export function pairOf(question: ReportQuestion): { filter: string; value: string } | undefined {
  const [[filter, [value, ...others]] = ['', []], ...more] = question.filters;
  const pair = value !== undefined && others.length === 0 && more.length === 0 && question.groupBy !== null && question.groupBy !== filter;
  return pair && sumsFor(question) === 'crosses' ? { filter, value } : undefined;
}

/** The part of the sums to read: by the grouping dimension, else by the only filter, else the whole. */
export function partOf({ groupBy, filters }: ReportQuestion, step: SumStep): string {
  const [dimension] = groupBy === null ? filters.keys() : [groupBy];
  return dimension === undefined ? step : `${dimension}/${step}`;
}

/** Sums of one day or month: rows of (value, measures…), one per standing. Keys are s.key and s.after. */
export function fromSums(question: ReportQuestion, step: SumStep, most: number | undefined, bind: Bind): string {
  const { summary, companyId, groupBy, filters, standings } = question;
  const [values] = filters.values();
  const grouped = groupBy !== null;
  return `select ${grouped ? 't.value' : `''`} as value, ${measuresOf(summary)
    .map((name) => `t.${name}`)
    .join(', ')}
    from ${summary.sums} t where t.company_id = ${bind(companyId, 'uuid')} and t.part = ${bind(partOf(question, step), 'text')} and t.period = s.key
      ${grouped ? 'and t.value > s.after' : ''} ${values === undefined ? '' : `and t.value = any(${bind(values, 'text[]')})`}
      and t.standing = any(${bind(standings, 'text[]')})
    ${most === undefined ? '' : `order by t.value limit ${most * standings.length}`}`;
}

/** Sums of one day or month by several dimensions with few values. */
export function fromCrosses(question: ReportQuestion, step: SumStep, most: number | undefined, bind: Bind): string {
  const { summary, companyId, groupBy, filters, standings } = question;
  const conditions = [...filters].map(([dimension, values]) => `t.${dimension} = any(${bind(values, 'text[]')})`);
  if (groupBy !== null) conditions.push(`t.${groupBy} > s.after`);
  return `select ${groupBy === null ? `''` : `t.${groupBy}`} as value, ${sums(summary, (name) => `t.${name}`)}
    from ${summary.crosses} t where t.company_id = ${bind(companyId, 'uuid')} and t.step = '${step}'
      and t.period = s.key and t.standing = any(${bind(standings, 'text[]')}) ${conditions.map((condition) => `and ${condition}`).join(' ')}
    ${groupBy === null ? '' : `group by 1 order by 1 ${most === undefined ? '' : `limit ${most}`}`}`;
}

/** Facts between the instants s.key and s.until, added up by the query. */
export function fromFacts(question: ReportQuestion, most: number | undefined, bind: Bind): string {
  const { summary, companyId, groupBy, filters, standings } = question;
  const value = groupBy === null ? `''` : `coalesce(f.${groupBy}::text, '${NONE}') collate "C"`;
  const conditions = [
    `f.company_id = ${bind(companyId, 'uuid')} and f.at >= s.key and f.at < s.until and f.standing = any(${bind(standings, 'text[]')})`,
    ...[...filters].map(([dimension, values]) => `f.${dimension} = any(${bind(values, CODES.includes(dimension) ? 'text[]' : 'uuid[]')})`),
    ...(groupBy === null ? [] : [`${value} > s.after`]),
  ];
  return `select ${value} as value, ${sums(summary, (name) => `f.${name}`)} from (${factsWhere(summary, conditions.join(' and '))}) f
    ${groupBy === null ? '' : `group by 1 order by 1 ${most === undefined ? '' : `limit ${most}`}`}`;
}

function sums(summary: SummaryDefinition, column: (name: string) => string): string {
  return measuresOf(summary)
    .map((name) => `sum(${column(name)}) as ${name}`)
    .join(', ');
}
