// The records behind a figure: their list, its filters, and the amount that each record adds.
import type { ApiRecord, JobRecord, Reading, RecordKind, RecordOf } from '../../api/records.ts';
import { Problem } from '../../api/problem.ts';
import { pagesOf, readList } from '../../api/reports.ts';
import { number } from '../../parts/figures.ts';
import { MOST_LINES } from '../../xlsx/sheet.ts';
import { marginOf, type Source } from './definitions.ts';
import { asked, type View } from './view.ts';

/** Most records of one figure that are loaded to add them up. */
export const MOST_RECORDS = 5_000;

const PATHS: Record<RecordKind, string> = { invoices: 'invoices', payments: 'payments', refunds: 'refunds', jobs: 'job-financials' };
export const TITLES: Record<RecordKind, string> = { invoices: 'Invoices', payments: 'Payments', refunds: 'Refunds', jobs: 'Jobs' };
export const ONE: Record<RecordKind, string> = { invoices: 'Invoice', payments: 'Payment', refunds: 'Refund', jobs: 'Job' };

/** What a record adds to each column of its report. */
export const AMOUNTS: Reading<Readonly<Record<string, number | null>>> = {
  invoices: ({ amounts }) => ({ invoice_count: 1, ...amounts }),
  payments: ({ amount_cents: cents }) => ({ payment_count: 1, received_cents: cents }),
  refunds: ({ amount_cents: cents }) => ({ refund_count: 1, refunded_cents: cents }),
  jobs: ({ totals }) => ({ job_count: 1, ...totals, gross_margin: marginOf(totals.gross_profit_cents, totals.revenue_cents) }),
};

export const DATES: Reading<string | null> = {
  invoices: ({ issued_at: at }) => at,
  payments: ({ occurred_at: at }) => at,
  refunds: ({ occurred_at: at }) => at,
  jobs: ({ report_date: day }) => day,
};

export interface Records<K extends RecordKind> {
  readonly records: readonly RecordOf[K][];
  /** Whether some are missing, so that the sum is not the figure. */
  readonly more: boolean;
}

interface Settings {
  readonly costing_enabled?: boolean;
  readonly verified_only?: boolean;
}

/** The records of a source that a figure counts, newest first. `value` is the group's; null is the group without one, undefined all groups. */
export async function readSource<K extends RecordKind>(
  view: View,
  source: Source<K>,
  value: string | null | undefined,
  settings: Settings,
  signal: AbortSignal,
): Promise<Records<K>> {
  const { records, more } = await readList<RecordOf[K]>(PATHS[source.kind], queryOf(view, source, value), MOST_RECORDS, signal);
  const date = (record: RecordOf[K]): string => DATES[source.kind](record) ?? '';
  return { records: records.filter(countsIn(view, settings)).sort((a, b) => date(b).localeCompare(date(a))), more };
}

/** What a spreadsheet has of a record. */
export interface Line {
  readonly id: string;
  readonly number: string | null;
  readonly at: string | null;
  readonly customer: string;
  readonly amounts: Readonly<Record<string, number | null>>;
}

/** Lines of all records of a source that a figure counts, newest first. Throws Problem if a spreadsheet cannot hold them. */
export async function readLines<K extends RecordKind>(
  view: View,
  source: Source<K>,
  value: string | null | undefined,
  settings: Settings,
  onProgress: (count: number) => void,
  keep: (record: RecordOf[K]) => boolean = () => true,
): Promise<Line[]> {
  const { kind } = source;
  const counts = countsIn(view, settings);
  const lines: Line[] = [];
  for await (const { records, more } of pagesOf<RecordOf[K]>(PATHS[kind], queryOf(view, source, value))) {
    for (const record of records) {
      if (!counts(record) || !keep(record)) continue;
      const { id, number: shown = null, account } = record;
      lines.push({ id, number: shown, at: DATES[kind](record), customer: account.name, amounts: AMOUNTS[kind](record) });
    }
    onProgress(lines.length);
    if (more && lines.length >= MOST_LINES) {
      throw new Problem(`There are more than ${number(MOST_LINES)} records, the most that a spreadsheet is made of here. Choose a shorter period or a filter.`);
    }
  }
  return lines.sort((a, b) => (b.at ?? '').localeCompare(a.at ?? ''));
}

function queryOf(view: View, source: Source, value: string | null | undefined): Readonly<Record<string, string | readonly string[] | undefined>> {
  const { range, group } = view;
  const { include_excluded_job_types: excluded, ...filters } = asked(view);
  const grouped = value === undefined ? {} : value === null ? { missing: group.field } : { [group.filter]: value };
  return {
    ...split(source.counted),
    ...renamed({ ...filters, ...grouped }, source.renamed ?? {}),
    ...(source.kind === 'jobs' && excluded !== 'true' && { eligible: 'true' }),
    ...(source.from && { [source.from]: range.start }),
    ...(source.before && { [source.before]: range.end }),
  };
}

/** The list has no parameter for jobs of excluded types. */
function countsIn(view: View, settings: Settings): (record: ApiRecord) => boolean {
  const { include_excluded_job_types: excluded } = asked(view);
  return (record) => !('costing' in record) || excluded !== 'true' || countsIfExcluded(record, settings);
}

const split = (counted: Source['counted']) => Object.fromEntries(Object.entries(counted).map(([name, values]) => [name, values.split(',')]));
const renamed = <T>(filters: Readonly<Record<string, T>>, names: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(filters).map(([name, values]) => [names[name] ?? name, values]));

/** Whether the job reports count the job if they include excluded job types, by the company's settings that the report names. */
function countsIfExcluded({ costing }: JobRecord, { costing_enabled: enabled, verified_only: verified }: Settings): boolean {
  return enabled !== false && costing.tracking_status === 'TRACKED' && (verified !== true || costing.verification_status === 'VERIFIED');
}
