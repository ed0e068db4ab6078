// Spreadsheets of a view and of the records behind a figure.
import type { RecordKind, RecordOf } from '../../api/records.ts';
import { zone } from '../../parts/time.tsx';
import { session } from '../../state/session.ts';
import type { Sheet, SheetColumn } from '../../xlsx/sheet.ts';
import { addDays, rangeName } from './calendar.ts';
import type { ReportFigures } from './data.ts';
import { AGES, addUp, type Age, type Measure } from './definitions.ts';
import { groupName } from './group-name.ts';
import type { Aging } from './aging.ts';
import { AMOUNTS, DATES, ONE, TITLES } from './sources.ts';
import type { View } from './view.ts';

const columnOf = ({ title, kind }: Measure): SheetColumn => ({ title, kind });
const DAY: SheetColumn['kind'] = 'date';
const TEXT: SheetColumn['kind'] = 'text';

/** `2026-03-01 14:02` in the company's time zone */
const clockOf = (at: string): string => new Date(at).toLocaleString('sv-SE', { timeZone: zone() }).slice(0, 16);

export function factsOf(view: View, asOf: string, filters: readonly (readonly [string, string])[]): Sheet['facts'] {
  return [
    ['Company', session.value.me?.company.name ?? ''],
    ['Report', view.report.title],
    ['Range', `${rangeName(view.range)} (${zone()})`],
    ['As of', `${clockOf(asOf)} (${zone()})`],
    ...filters,
  ];
}

/** The view's figures over time and by group. Cells hold numbers that spreadsheets add up; what may not be added up has no total. */
export function sheetsOf(view: View, { periods, groups, total, asOf }: ReportFigures, filters: readonly (readonly [string, string])[]): Sheet[] {
  const { report, group, measure } = view;
  const { measures } = report;
  const facts = factsOf(view, asOf, filters);
  const values = (of: Readonly<Record<string, number | null>>) => measures.map(({ key }) => of[key] ?? null);
  const totals = total && values(total.now);
  const ranked = groups.toSorted((a, b) => (b.now[measure.key] ?? Number.MIN_SAFE_INTEGER) - (a.now[measure.key] ?? Number.MIN_SAFE_INTEGER));
  const sheets: Sheet[] = [];
  if (periods.length > 0) {
    sheets.push({
      name: 'Over time',
      facts,
      columns: [{ title: 'First day', kind: DAY }, { title: 'Last day', kind: DAY }, ...measures.map(columnOf)],
      rows: periods.map(({ range, now }) => [range.start, addDays(range.end, -1), ...values(now)]),
      total: totals && ['Total', null, ...totals],
    });
  }
  sheets.push({
    name: `By ${group.title.toLowerCase()}`,
    facts,
    columns: [{ title: group.title, kind: TEXT }, ...measures.map(columnOf)],
    rows: ranked.map(({ label, now }) => [groupName(group, label), ...values(now)]),
    total: totals && ['Total', ...totals],
  });
  return sheets;
}

export function agingSheet({ report, group }: View, { ages, groups, asOf }: Aging, filters: readonly (readonly [string, string])[]): Sheet {
  const keys = [...(Object.keys(AGES) as Age[]), 'TOTAL'] as const;
  const balances = (of: Aging['ages']) => keys.map((age) => of.get(age)?.['open_balance_cents'] ?? 0);
  return {
    name: report.title,
    facts: [['Company', session.value.me?.company.name ?? ''], ['Report', report.title], ['As of', `${clockOf(asOf)} (${zone()})`], ...filters],
    columns: [{ title: group.title, kind: TEXT }, ...keys.map((age): SheetColumn => ({ title: age === 'TOTAL' ? 'Open balance' : AGES[age], kind: 'money' }))],
    rows: groups.map(({ label, ages: of }) => [groupName(group, label), ...balances(of)]),
    total: ['Total', ...balances(ages)],
  };
}

export function recordsSheet<K extends RecordKind>(kind: K, records: readonly RecordOf[K][], measures: readonly Measure[], facts: Sheet['facts']): Sheet {
  const shown = measures.filter(({ kind: of }) => of !== 'count');
  const sums = addUp(
    records.map((record) => AMOUNTS[kind](record)),
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
    rows: records.map((record) => {
      const at = DATES[kind](record);
      const amounts = AMOUNTS[kind](record);
      const day = at === null ? null : at.includes('T') ? clockOf(at).slice(0, 10) : at;
      return [record.number ?? null, day, record.account.name, record.id, ...shown.map(({ key }) => amounts[key] ?? null)];
    }),
    total: ['Sum', null, null, null, ...shown.map(({ key }) => sums[key] ?? null)],
  };
}
