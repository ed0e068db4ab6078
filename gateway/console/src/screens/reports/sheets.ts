// Spreadsheets of a view and of the records behind a figure.
import type { RecordKind } from '../../api/records.ts';
import { dayOf, zone } from '../../parts/time.tsx';
import { session } from '../../state/session.ts';
import type { Sheet, SheetColumn } from '../../xlsx/sheet.ts';
import { addDays, previousOf, rangeName } from './calendar.ts';
import type { ReportFigures } from './data.ts';
import { AGES, addUp, type Age, type Measure } from './definitions.ts';
import { groupName } from './group-name.ts';
import { filtersInWords } from './name-filters.tsx';
import { lateName, rankedGroups, type Aging, type Figures, type Late } from './aging.ts';
import { ONE, TITLES, type Line } from './sources.ts';
import type { View } from './view.ts';

const columnOf = ({ title, kind }: Measure): SheetColumn => ({ title, kind });
const DAY: SheetColumn['kind'] = 'date';
const TEXT: SheetColumn['kind'] = 'text';

/** `2026-03-01 14:02` in the company's time zone */
export const clockOf = (at: string): string => new Date(at).toLocaleString('sv-SE', { timeZone: zone() }).slice(0, 16);

/** What every spreadsheet says first; `range` stands before the time. */
const headOf = ({ report }: View, asOf: string, range: Sheet['facts'] = []): Sheet['facts'] => [
  ['Company', session.value.me?.company.name ?? ''],
  ['Report', report.title],
  ...range,
  ['As of', `${clockOf(asOf)} (${zone()})`],
];

/** The group with this name, if there is one, and the filters of a view. */
export async function chosenOf({ report, group, filters }: View, name: string | undefined): Promise<Sheet['facts']> {
  return [...(name === undefined ? [] : [[group.title, name] as const]), ...(await filtersInWords(report.filters, filters))];
}

export function factsOf(view: View, asOf: string, filters: readonly (readonly [string, string])[]): Sheet['facts'] {
  return [
    ...headOf(view, asOf, [['Range', `${rangeName(view.range)} (${zone()})`]]),
    ...(view.report.excludable ? [['Include excluded job types', view.excluded ? 'Yes' : 'No'] as const] : []),
    ...(view.compare ? [['Compared with', rangeName(previousOf(view.range, view.period))] as const] : []),
    ...filters,
  ];
}

/** The columns of a comparison, as the screen shows them. */
function comparedColumns({ measure, compare }: View): SheetColumn[] {
  return compare
    ? [
        { title: `${measure.title} before`, kind: measure.kind },
        { title: 'Change', kind: 'share' },
      ]
    : [];
}

/** The change is a share of the figure before; of shares it is their difference. */
function comparedCells({ measure, compare }: View, now: Figures, before: Figures | undefined): (number | null)[] {
  if (!compare) return [];
  const [is, was] = [now[measure.key] ?? null, before?.[measure.key] ?? null];
  if (is === null || was === null) return [was, null];
  if (measure.kind === 'share') return [was, is - was];
  return [was, was === 0 ? null : (is - was) / Math.abs(was)];
}

/** The view's figures over time and by group. Cells hold numbers that spreadsheets add up; what may not be added up has no total. */
export function sheetsOf(view: View, { periods, groups, total, asOf }: ReportFigures, filters: readonly (readonly [string, string])[]): Sheet[] {
  const { group, measure, columns: measures } = view;
  const facts = factsOf(view, asOf, filters);
  const values = (of: Readonly<Record<string, number | null>>) => measures.map(({ key }) => of[key] ?? null);
  const totals = total && [...values(total.now), ...comparedCells(view, total.now, total.before)];
  const ranked = groups.toSorted((a, b) => (b.now[measure.key] ?? Number.MIN_SAFE_INTEGER) - (a.now[measure.key] ?? Number.MIN_SAFE_INTEGER));
  const sheets: Sheet[] = [];
  if (periods.length > 0) {
    sheets.push({
      name: 'Over time',
      facts,
      columns: [{ title: 'First day', kind: DAY }, { title: 'Last day', kind: DAY }, ...measures.map(columnOf), ...comparedColumns(view)],
      rows: periods.map(({ range, now, before }) => [range.start, addDays(range.end, -1), ...values(now), ...comparedCells(view, now, before)]),
      total: totals && ['Total', null, ...totals],
    });
  }
  sheets.push({
    name: `By ${group.title.toLowerCase()}`,
    facts,
    columns: [{ title: group.title, kind: TEXT }, ...measures.map(columnOf), ...comparedColumns(view)],
    rows: ranked.map(({ label, now, before }) => [groupName(group, label), ...values(now), ...comparedCells(view, now, before)]),
    total: totals && ['Total', ...totals],
  });
  return sheets;
}

/** Open invoices have no period. */
export function openFacts(view: View, asOf: string, age: Late | undefined, filters: readonly (readonly [string, string])[]): Sheet['facts'] {
  return [...headOf(view, asOf), ...(age === undefined ? [] : [['Age', lateName(age)] as const]), ...filters];
}

/** Balances of every age, or of the chosen one, in the screen's order. */
export function agingSheet(view: View, { ages, groups, asOf }: Aging, age: Age | undefined, filters: readonly (readonly [string, string])[]): Sheet {
  const { report, group } = view;
  const keys = age === undefined ? ([...(Object.keys(AGES) as Age[]), 'TOTAL'] as const) : ([age] as const);
  const balances = (of: Aging['ages']) => keys.map((age) => of.get(age)?.['open_balance_cents'] ?? 0);
  return {
    name: report.title,
    facts: openFacts(view, asOf, age, filters),
    columns: [{ title: group.title, kind: TEXT }, ...keys.map((age): SheetColumn => ({ title: age === 'TOTAL' ? 'Open balance' : AGES[age], kind: 'money' }))],
    rows: rankedGroups(groups, age).map(({ label, ages: of }) => [groupName(group, label), ...balances(of)]),
    total: ['Total', ...balances(ages)],
  };
}

export function recordsSheet(kind: RecordKind, lines: readonly Line[], measures: readonly Measure[], facts: Sheet['facts']): Sheet {
  const shown = measures.filter(({ kind: of }) => of !== 'count');
  const sums = addUp(
    lines.map(({ amounts }) => amounts),
    measures,
  );
  return {
    name: TITLES[kind],
    facts,
    columns: [
      { title: ONE[kind], kind: TEXT },
      { title: 'Date', kind: DAY },
      { title: 'Customer', kind: TEXT },
      { title: 'Id', kind: TEXT },
      ...shown.map(columnOf),
    ],
    rows: lines.map(({ id, number, at, customer, amounts }) => {
      const day = at === null ? null : at.includes('T') ? dayOf(at) : at;
      return [number, day, customer, id, ...shown.map(({ key }) => amounts[key] ?? null)];
    }),
    total: ['Sum', null, null, null, ...shown.map(({ key }) => sums[key] ?? null)],
  };
}
