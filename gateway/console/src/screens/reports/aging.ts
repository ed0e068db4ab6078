// Open balances by age and group, and which invoices are of an age.
import type { Invoice } from '../../api/business.ts';
import { readReport } from '../../api/reports.ts';
import { today } from '../../parts/time.tsx';
import { addDays } from './calendar.ts';
import { AGES, RECEIVABLES as REPORT, addUp, type Age, type Row } from './definitions.ts';
import { asked, type View } from './view.ts';

export type Figures = Readonly<Record<string, number | null>>;

export interface Aging {
  readonly ages: ReadonlyMap<Age | 'TOTAL', Figures>;
  readonly groups: readonly { readonly value: string | null; readonly label: string | null; readonly ages: ReadonlyMap<Age | 'TOTAL', Figures> }[];
  readonly asOf: string;
}

/** An age, or all ages from one day past due on. */
export type Late = Age | 'OVERDUE';

export const lateName = (age: Late): string => (age === 'OVERDUE' ? 'Overdue' : AGES[age]);

/**
 * Whether an open invoice is of this age, by the aging that the API gives it. Its days are those of the API's clock in the company's time zone, as the
 * report's are, so that lists hold what the report counts.
 */
export const isOfAge = ({ aging }: Pick<Invoice, 'aging'>, age: Late): boolean =>
  aging != null && (age === 'OVERDUE' ? aging.bucket !== 'CURRENT' : aging.bucket === age);

/** Days past due: at least, and at most. */
const DAYS: Readonly<Record<Late, readonly [least?: number, most?: number]>> = {
  CURRENT: [],
  OVERDUE: [1],
  PAST_DUE_1_30: [1, 30],
  PAST_DUE_31_60: [31, 60],
  PAST_DUE_61_90: [61, 90],
  PAST_DUE_91_PLUS: [91],
};

/** Filters of the list that return the invoices of an age, and few others: the API's day may be a day before or after this browser's. */
export function dueWhere(age: Late): { due_from?: string; due_before?: string } {
  const [least, most] = DAYS[age];
  const day = today();
  return {
    ...(most !== undefined && { due_from: addDays(day, -most - 1) }),
    ...(least !== undefined && { due_before: addDays(day, 2 - least) }),
  };
}

/** Figures of an age. */
export function figuresOf(ages: Aging['ages'], age: Late | 'TOTAL'): Figures {
  const late = [...ages].filter(([at]) => at !== 'TOTAL' && at !== 'CURRENT');
  return age === 'OVERDUE'
    ? addUp(
        late.map(([, figures]) => figures),
        REPORT.measures,
      )
    : (ages.get(age) ?? addUp([], REPORT.measures));
}

export const ageIn = (query: URLSearchParams): Age | undefined => (Object.keys(AGES) as Age[]).find((each) => each === query.get('age'));

const byAge = (rows: readonly Row[]): ReadonlyMap<Age | 'TOTAL', Figures> =>
  new Map(rows.map((row) => [row['bucket'] as Age | 'TOTAL', addUp([row], REPORT.measures)]));

/** Groups that have invoices of this age, or any, with the highest balance first. */
export function rankedGroups(groups: Aging['groups'], age: Age | undefined): Aging['groups'] {
  const shown = age ?? 'TOTAL';
  const balance = ({ ages }: Aging['groups'][number]): number => ages.get(shown)?.['open_balance_cents'] ?? 0;
  return groups.filter(({ ages }) => (ages.get(shown)?.['invoice_count'] ?? 0) > 0).sort((a, b) => balance(b) - balance(a));
}

export async function readAging(view: View, signal: AbortSignal): Promise<Aging> {
  const [all, grouped] = await Promise.all([
    readReport(REPORT.name, asked(view), signal),
    readReport(REPORT.name, { ...asked(view), group_by: view.group.key }, signal),
  ]);
  return {
    ages: byAge(all.rows),
    groups: [...Map.groupBy(grouped.rows, ({ group }) => group!.value)].map(([value, rows]) => ({ value, label: rows[0]!.group!.label, ages: byAge(rows) })),
    asOf: [all.asOf, grouped.asOf].sort()[0]!,
  };
}
