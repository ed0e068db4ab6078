// Open balances by age and group.
import { readReport } from '../../api/reports.ts';
import { AGES, RECEIVABLES as REPORT, addUp, type Age, type Row } from './definitions.ts';
import { asked, type View } from './view.ts';

export type Figures = Readonly<Record<string, number | null>>;

export interface Aging {
  readonly ages: ReadonlyMap<Age | 'TOTAL', Figures>;
  readonly groups: readonly { readonly value: string | null; readonly label: string | null; readonly ages: ReadonlyMap<Age | 'TOTAL', Figures> }[];
  readonly asOf: string;
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
