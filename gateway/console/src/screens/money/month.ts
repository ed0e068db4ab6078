// Records of a month, whole: for files, whose sums must be those of everything.
import type { Invoice, Payment } from '../../api/business.ts';
import { Problem } from '../../api/problem.ts';
import { pagesOf } from '../../api/reports.ts';
import { number } from '../../parts/figures.ts';
import type { Range } from '../reports/calendar.ts';
import { MOST_LINES } from '../../xlsx/sheet.ts';

export type ReadAll = <T>(path: string, query: Readonly<Record<string, string | readonly string[]>>) => Promise<T[]>;

const IDS_AT_ONCE = 100;

/** Reads lists to their end; `report` is called with the number of records read so far of all of them together. Errors: Problem. */
export function reading(report: (read: number) => void, signal: AbortSignal): ReadAll {
  let count = 0;
  return async <T>(path: string, query: Readonly<Record<string, string | readonly string[]>>): Promise<T[]> => {
    const records: T[] = [];
    for await (const page of pagesOf<T>(path, query, signal)) {
      records.push(...page.records);
      report((count += page.records.length));
      if (page.more && count >= MOST_LINES) {
        throw new Problem(`There are more than ${number(MOST_LINES)} records, the most that files are made of here. Use the API, or its CSV.`);
      }
    }
    return records;
  };
}

/** What the report of invoice activity counts. */
export const invoicesOf = ({ start, end }: Range, all: ReadAll): Promise<Invoice[]> =>
  all('invoices', { status: ['OPEN', 'PAID'], issued_from: start, issued_before: end });

/** What the report of collections counts as received. */
export const paymentsOf = ({ start, end }: Range, all: ReadAll): Promise<Payment[]> =>
  all('payments', { status: 'PAID', occurred_from: start, occurred_before: end });

/** Numbers of the invoices that payments pay: they may be older than the month. */
export async function numbersOf(payments: readonly Payment[], all: ReadAll): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(payments.flatMap(({ invoice_allocations: of }) => of.map(({ invoice_id }) => invoice_id)))];
  const numbers = new Map<string, string>();
  for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
    for (const { id, number } of await all<Invoice>('invoices', { ids: ids.slice(from, from + IDS_AT_ONCE) })) numbers.set(id, number);
  }
  return numbers;
}
