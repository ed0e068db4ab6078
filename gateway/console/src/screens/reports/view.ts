// A view of a report, written in the address, so that it can be shared, saved and reopened.
import { today } from '../../parts/time.tsx';
import { places } from '../../state/route.ts';
import { BUCKETS, PERIODS, addDays, faultOf, rangeOf, usualBucket, type Bucket, type Period, type Range } from './calendar.ts';
import type { Group, Measure, Report } from './definitions.ts';

export interface View {
  readonly report: Report;
  readonly period: Period;
  readonly range: Range;
  /** The first and the last day as the user gave them, or those of the period. */
  readonly from: string;
  readonly to: string;
  /** What is wrong with them. The range is then of no use, and nothing is requested. */
  readonly fault: string | undefined;
  readonly bucket: Bucket;
  readonly group: Group;
  readonly measure: Measure;
  /** Measures that tables and spreadsheets have a column of. */
  readonly columns: readonly Measure[];
  readonly compare: boolean;
  readonly excluded: boolean;
  /** Values of the report's filters by name, in the order chosen. */
  readonly filters: Readonly<Record<string, readonly string[]>>;
}

/** Changes of the address; undefined removes a parameter. */
export type Change = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Value in the address for the group of records without a value. */
export const NONE = 'none';

/** The value of the group whose records are shown: null is the group without one, undefined all groups. */
export function valueIn(query: URLSearchParams): string | null | undefined {
  const given = query.get('value');
  return given === null ? undefined : given === NONE ? null : given;
}

/** Parts of the address that are missing or make no sense are replaced by their defaults. Days that make no sense are a fault. */
export function viewIn(report: Report, query: URLSearchParams): View {
  const period = PERIODS.find((each) => each === query.get('period')) ?? 'month';
  const { start, end } = rangeOf(period === 'custom' ? 'month' : period, today());
  const from = (period === 'custom' && query.get('from')) || start;
  const last = addDays(end, -1);
  const to = period !== 'custom' ? last : query.get('to') || (from > last ? from : last);
  const fault = faultOf(from) ?? faultOf(to, from);
  const range = fault === undefined ? { start: from, end: addDays(to, 1) } : { start, end };
  const measure = report.measures.find(({ key }) => key === query.get('measure')) ?? report.measures.find(({ key }) => key === report.first)!;
  const chosen = report.measures.filter(({ key }) => query.getAll('column').includes(key));
  return {
    report,
    period,
    ...{ range, from, to, fault },
    bucket: BUCKETS.find((each) => each === query.get('bucket')) ?? usualBucket(range),
    group: report.groups.find(({ key }) => key === query.get('group')) ?? report.groups[0]!,
    measure,
    columns: chosen.length > 0 ? chosen : usualColumns(report, measure),
    compare: query.get('compare') === 'yes',
    excluded: report.excludable && query.get('excluded') === 'yes',
    filters: Object.fromEntries(report.filters.map(({ name }) => [name, query.getAll(name).filter((value) => value !== '')])),
  };
}

/** Measures that are shown until others are chosen. */
export const usualColumns = ({ measures }: Report, shown: Measure): readonly Measure[] => measures.filter((each) => !each.detail || each === shown);

/** The address of this query with changes, below the report. */
export function addressWith(report: Report, query: URLSearchParams, change: Change, below: readonly string[] = []): string {
  const next = new URLSearchParams(query);
  for (const [name, values] of Object.entries(change)) {
    next.delete(name);
    for (const value of [values ?? []].flat()) if (value !== '') next.append(name, value);
  }
  return places.report([report.name, ...below], next);
}

/** The address of exactly this range. */
export const only = ({ start, end }: Range): Change => ({ period: 'custom', from: start, to: addDays(end, -1), bucket: undefined });

/** The report's parameters of the API for a view's filters. */
export function asked({ report, filters, excluded }: View): Readonly<Record<string, string | readonly string[] | undefined>> {
  return { ...filters, ...(report.excludable && excluded ? { include_excluded_job_types: 'true' } : {}) };
}
