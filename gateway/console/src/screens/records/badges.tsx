import type { Invoice, Payment, Visit } from '../../api/business.ts';
import { Badge } from '../../parts/badge.tsx';
import { titleCase } from '../../parts/words.ts';

type Tone = Parameters<typeof Badge>[0]['tone'];

const INVOICES: Readonly<Record<string, Tone>> = { PAID: 'good', OPEN: 'busy', UNCOLLECTABLE: 'bad' };

export function InvoiceBadge({ invoice: { status, aging, amounts } }: { invoice: Pick<Invoice, 'status' | 'aging' | 'amounts'> }) {
  if (status === 'OPEN' && amounts.open_balance_cents < 0) return <Badge tone="off">Credit</Badge>;
  const days = aging?.days_past_due ?? 0;
  if (status === 'OPEN' && days > 0) return <Badge tone="bad">{`${days} ${days === 1 ? 'day' : 'days'} overdue`}</Badge>;
  return <Badge tone={INVOICES[status] ?? 'off'}>{titleCase(status)}</Badge>;
}

const PAYMENTS: Readonly<Record<string, Tone>> = { PAID: 'good', FAILED: 'bad', CANCELED: 'off' };

export function PaymentBadge({ payment: { status } }: { payment: Pick<Payment, 'status'> }) {
  return status === null ? <span class="soft">–</span> : <Badge tone={PAYMENTS[status] ?? 'busy'}>{titleCase(status)}</Badge>;
}

const VISITS: Readonly<Record<string, Tone>> = { UNASSIGNED: 'bad', DISPATCHED: 'busy', IN_PROGRESS: 'busy', COMPLETED: 'good' };

/** The colour and the name of a visit's status. */
export const visitStatus = ({ dispatch_status: status }: Pick<Visit, 'dispatch_status'>): readonly [Tone, string] => [
  VISITS[status] ?? 'off',
  status === 'UNASSIGNED' ? 'No technician' : titleCase(status),
];

export function VisitBadge({ visit }: { visit: Pick<Visit, 'dispatch_status'> }) {
  const [tone, text] = visitStatus(visit);
  return <Badge tone={tone}>{text}</Badge>;
}
