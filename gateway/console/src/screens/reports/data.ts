// What a view of a report shows: its figures by period and by group, and those of the previous period.
import { readReport, type ReportRow } from '../../api/reports.ts';
import { RARELY_MS, useResource, type Resource } from '../../state/resource.ts';
import { bucketsOf, previousOf, type Bucket, type Range } from './calendar.ts';
import { addUp, type Row } from './definitions.ts';
import { asked, type View } from './view.ts';

type Figures = Readonly<Record<string, number | null>>;

export interface PeriodFigures {
  readonly range: Range;
  readonly now: Figures;
  readonly before: Figures | undefined;
}

export interface GroupFigures {
  readonly value: string | null;
  readonly label: string | null;
  readonly now: Figures;
  readonly before: Figures | undefined;
}

export interface ReportFigures {
  /** Empty if the report has no figures of a whole period. */
  readonly periods: readonly PeriodFigures[];
  readonly groups: readonly GroupFigures[];
  /** undefined if groups may not be added up. */
  readonly total: { readonly now: Figures; readonly before: Figures | undefined } | undefined;
  readonly asOf: string;
}

/** undefined while the view has a fault. */
export function useReport(view: View): Resource<ReportFigures | undefined> {
  const { report, range, fault, bucket, group, compare } = view;
  const parameters = asked(view);
  const key = JSON.stringify([report.name, range, fault, bucket, group.key, compare, parameters]);
  return useResource(`report ${key}`, async (signal) => (fault === undefined ? load(view, signal) : undefined), undefined, undefined, RARELY_MS);
}

async function load(view: View, signal: AbortSignal): Promise<ReportFigures> {
  const { report, range, period, compare } = view;
  const [now, before] = await Promise.all([readRange(view, range, signal), compare ? readRange(view, previousOf(range, period), signal) : undefined]);
  const { measures } = report;
  const zero = compare ? addUp([], measures) : undefined;
  const values = new Map([...(before?.groups ?? []), ...now.groups]);
  return {
    periods: now.periods.map(([of, rows], index) => ({
      range: of,
      now: addUp(rows, measures),
      before: before === undefined ? undefined : addUp(before.periods[index]?.[1] ?? [], measures),
    })),
    groups: [...values.keys()].map((value) => {
      const rows = now.groups.get(value) ?? [];
      const earlier = before?.groups.get(value);
      return {
        value,
        label: (rows[0] ?? earlier![0])!.group!.label,
        now: addUp(rows, measures),
        before: earlier === undefined ? zero : addUp(earlier, measures),
      };
    }),
    total: report.additive ? { now: addUp(flat(now), measures), before: before && addUp(flat(before), measures) } : undefined,
    asOf: now.asOf,
  };
}

interface RangeRows {
  readonly periods: readonly (readonly [Range, readonly Row[]])[];
  readonly groups: ReadonlyMap<string | null, readonly ReportRow[]>;
  readonly asOf: string;
}

const flat = ({ periods }: RangeRows): readonly Row[] => periods.flatMap(([, rows]) => rows);

/** Whether the view has figures for whole periods: a report of one technician has, one of several has not. */
const hasPeriods = ({ report, filters }: View): boolean => report.additive || filters['team_member_id']?.length === 1;

async function readRange(view: View, range: Range, signal: AbortSignal): Promise<RangeRows> {
  const { report, bucket, group } = view;
  const ask = (by: Bucket, groupBy: string | undefined) =>
    readReport(report.name, { ...asked(view), start_date: range.start, end_date: range.end, bucket: by, group_by: groupBy }, signal);
  // The longest intervals give the fewest rows to add up.
  const [byPeriod, byGroup] = await Promise.all([hasPeriods(view) ? ask(bucket, undefined) : undefined, ask('year', group.key)]);
  const rowsOf = Map.groupBy(byPeriod?.rows ?? [], ({ period_start: start }) => start);
  return {
    periods: byPeriod === undefined ? [] : bucketsOf(range, bucket).map((of) => [of, rowsOf.get(of.start) ?? []]),
    groups: Map.groupBy(byGroup.rows, ({ group: of }) => of!.value),
    asOf: [byGroup.asOf, byPeriod?.asOf ?? byGroup.asOf].sort()[0]!,
  };
}

/** The figures of one group, or of all, in a range, as one row. */
export async function readFigures(view: View, value: string | null | undefined, signal: AbortSignal) {
  const { report, range, group } = view;
  const query = {
    ...asked(view),
    start_date: range.start,
    end_date: range.end,
    bucket: 'year',
    group_by: value === undefined && report.additive ? undefined : group.key,
  };
  const { rows, settings, asOf } = await readReport(report.name, query, signal);
  const of = value === undefined ? rows : rows.filter((row) => row.group?.value === value);
  return { figures: addUp(of, report.measures), label: of[0]?.group?.label ?? value ?? null, settings, asOf };
}
