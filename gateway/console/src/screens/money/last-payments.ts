// The last payment of each customer. Some customers have not paid for years.
import { inPages, type Payment } from '../../api/business.ts';
import { readList } from '../../api/reports.ts';
import { addDays } from '../reports/calendar.ts';

/** Days before today from which payments are read, until each customer has one. */
const SPANS = [92, 366, 3660];
const MOST_PAYMENTS = 10_000;

/** The last payment of each of these customers that was received, if there is one within ten years. */
export async function readLastPayments(ids: readonly string[], today: string, signal: AbortSignal): Promise<ReadonlyMap<string, Payment>> {
  const last = new Map<string, Payment>();
  let before: string | undefined;
  for (const days of SPANS) {
    const from = addDays(today, -days);
    const query = { status: 'PAID', occurred_from: from, occurred_before: before };
    const missing = ids.filter((id) => !last.has(id));
    const found = await inPages(missing, async (some) => (await readList<Payment>('payments', { ...query, account_id: some }, MOST_PAYMENTS, signal)).records);
    for (const payment of found.sort((a, b) => a.occurred_at.localeCompare(b.occurred_at))) last.set(payment.account.id, payment);
    before = from;
  }
  return last;
}
