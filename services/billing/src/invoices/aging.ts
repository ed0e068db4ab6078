// How late an invoice is, in days of the company's time zone (api.md, Aging). It depends on today, so it is never stored.
import { encodeFragment, localDay, now } from '@truckroll/contract';
import { AgingBucket, Invoice, type Aging } from '@truckroll/contract/gen/billing/v1/invoices';
import { instantOf } from '@truckroll/postgres';

const BUCKETS: readonly [upTo: number, bucket: AgingBucket][] = [
  [0, AgingBucket.CURRENT],
  [30, AgingBucket.PAST_DUE_1_30],
  [60, AgingBucket.PAST_DUE_31_60],
  [90, AgingBucket.PAST_DUE_61_90],
  [Infinity, AgingBucket.PAST_DUE_91_PLUS],
];

/** Both instants are in microseconds. Without a due date, the bucket is CURRENT and days_past_due null. */
function agingAt(at: number, dueAt: number | null, timeZone: string): Aging {
  if (dueAt === null) return { days_past_due: null, bucket: AgingBucket.CURRENT };
  const days = localDay(at, timeZone) - localDay(dueAt, timeZone);
  const [, bucket] = BUCKETS.find(([upTo]) => days <= upTo) as (typeof BUCKETS)[number];
  return { days_past_due: days, bucket };
}

/** Encoded aging by number of days: a page's invoices repeat a few values. */
const fragments = new Map<number | null, Uint8Array>();
const MOST_FRAGMENTS = 10_000;
const OPEN = Buffer.from('OPEN');

/** Appends the aging of OPEN invoices to the stored record. */
export const agingOnRead = {
  columns: ['status', 'due_at'],
  fragment(column: (index: number) => Buffer | null, timeZone: string): Uint8Array | undefined {
    const status = column(0);
    if (status === null || !OPEN.equals(status)) return undefined;
    const dueAt = column(1);
    const aging = agingAt(now(), dueAt === null ? null : instantOf(dueAt), timeZone);
    const days = aging.days_past_due ?? null;
    let fragment = fragments.get(days);
    if (fragment === undefined) {
      if (fragments.size >= MOST_FRAGMENTS) fragments.clear();
      fragments.set(days, (fragment = encodeFragment(Invoice, { aging })));
    }
    return fragment;
  },
};
