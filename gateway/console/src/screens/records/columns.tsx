// Columns of tables of records that several screens show.
import type { Invoice, Payment, Visit } from '../../api/business.ts';
import { dollars } from '../../parts/money.ts';
import type { Column } from '../../parts/table.tsx';
import { Day } from '../../parts/time.tsx';
import { methodName } from '../../parts/words.ts';
import { places } from '../../state/route.ts';
import { InvoiceBadge, PaymentBadge, VisitBadge } from './badges.tsx';

export const invoiceColumns = {
  number: {
    title: 'Invoice',
    cell: ({ id, number }) => (
      <a class="name" href={places.record('invoices', id)}>
        {number}
      </a>
    ),
  },
  issued: { title: 'Issued', cell: ({ issued_at: at }) => (at === null ? '–' : <Day at={at} />) },
  due: { title: 'Due', cell: ({ due_at: at }) => (at === null ? '–' : <Day at={at} />) },
  status: { title: 'Status', cell: (invoice) => <InvoiceBadge invoice={invoice} /> },
  total: { title: 'Total', numeric: true, cell: ({ amounts }) => dollars(amounts.total_cents) },
  open: { title: 'Open', numeric: true, cell: ({ amounts }) => dollars(amounts.open_balance_cents) },
} satisfies Record<string, Column<Invoice>>;

export const paymentColumns = {
  number: {
    title: 'Payment',
    cell: ({ id, number }) => (
      <a class="name" href={places.record('payments', id)}>
        {number ?? 'Payment'}
      </a>
    ),
  },
  date: { title: 'Date', cell: ({ occurred_at: at }) => <Day at={at} /> },
  method: { title: 'Method', cell: ({ method }) => methodName(method) },
  status: { title: 'Status', cell: (payment) => <PaymentBadge payment={payment} /> },
  amount: { title: 'Amount', numeric: true, cell: ({ amount_cents: cents }) => dollars(cents) },
} satisfies Record<string, Column<Payment>>;

/** The technicians of a visit. A canceled assignment stays in the record of the visit, but is no work. */
export const workOf = ({ assignments }: Pick<Visit, 'assignments'>): Visit['assignments'] => assignments.filter(({ status }) => status !== 'CANCELED');
export const techniciansOf = (visit: Pick<Visit, 'assignments'>): string =>
  workOf(visit)
    .map(({ team_member: { name } }) => name)
    .join(', ');

export const visitColumns = {
  visit: { title: 'Visit', cell: ({ number, job }) => `${number} · ${job.job_type?.name ?? job.summary ?? `job ${job.number}`}` },
  technicians: {
    title: 'Technicians',
    cell: (visit) => techniciansOf(visit) || <span class="soft">None</span>,
  },
  status: { title: 'Status', cell: (visit) => <VisitBadge visit={visit} /> },
} satisfies Record<string, Column<Visit>>;
