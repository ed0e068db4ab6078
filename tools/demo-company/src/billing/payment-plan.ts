import type { PaymentMethod, PaymentStatus } from '@truckroll/contract/gen/billing/v1/payments';
import type { Company } from '../company.ts';
import { drawOf, idOf, type Reference } from '../ground.ts';
import { stream, type Draw } from '../random/keyed.ts';
import { Rota } from '../random/rota.ts';
import { BATCH_JOBS } from '../scheduling/batches.ts';
import { planJob } from '../scheduling/job-plan.ts';
import type { JobPlan } from '../plans.ts';
import { DAY, MINUTE } from '../time/instant.ts';
import type { Paid } from './invoice-courses.ts';
import { invoicesOf, type InvoicePlan } from './invoice-plan.ts';
import type { Spelled } from '../shapes/given.ts';

const PAYMENTS = stream('payments');
const PLANS = stream('plans of payments');

type Status = Spelled<PaymentStatus> | null;
type Method = Spelled<PaymentMethod>;

const METHODS = new Rota<Method>('payment methods', [
  ['CARD', 12],
  ['ACH', 6],
  ['CHECK', 6],
  ['CASH', 4],
  ['VENMO', 2],
  ['PAYPAL', 2],
  ['CASHAPP', 2],
  ['OTHER', 2],
  ['WISETACK_LOAN', 2],
]);

const PREPAID_EVERY = 29;
const PREPAYMENTS = new Rota<Status>('prepayments', [
  ['PAID', 3],
  ['PENDING', 1],
  ['PROCESSING', 1],
  ['SUBMITTING', 1],
  [null, 1],
]);

export interface PaymentPlan {
  readonly id: string;
  readonly job: JobPlan;
  readonly status: Status;
  readonly method: Method;
  readonly cents: number;
  readonly occurredAt: number;
  readonly createdAt: number;
  readonly editedAt: number | null;
  readonly collectedBy: Reference | null;
  readonly allocations: readonly { invoice_id: string; applied_cents: number }[];
}

/** One payment attempt: its status, the cents paid, and the cents applied to the invoice. */
type Attempt = readonly [status: Status, paid: number, applied: number];

function attemptsOf(paid: Paid, total: number, draw: Draw): readonly Attempt[] {
  const part = Math.max(1, Math.floor(total * draw.pick([0.25, 0.5, 0.6])));
  const roundedUp = Math.ceil((total + 1) / 1_000) * 1_000;
  switch (paid) {
    case 'nothing':
      return [];
    case 'whole':
      return [['PAID', total, total]];
    case 'halves':
      return [
        ['PAID', part, part],
        ['PAID', total - part, total - part],
      ];
    case 'retried':
      return [
        ['FAILED', total, total],
        ['PAID', total, total],
      ];
    case 'rounded up':
      return [['PAID', roundedUp, total]];
    case 'part':
      return [['PAID', part, part]];
    case 'too much':
      return [['PAID', roundedUp, roundedUp]];
    case 'pending':
      return [['PENDING', total, total]];
    case 'processing':
      return [
        ['PAID', part, part],
        ['PROCESSING', total - part, total - part],
      ];
    case 'failed':
      return [['FAILED', total, total]];
    case 'canceled':
      return [['CANCELED', part, part]];
    case 'submitting':
      return [['SUBMITTING', total, total]];
    case 'unknown':
      return [[null, total, total]];
  }
}

interface Received extends Pick<PaymentPlan, 'status' | 'cents' | 'allocations'> {
  readonly since: number;
}

/** A job's payments. The single payment of a batch belongs to its first job. */
export function paymentsOf(company: Company, job: JobPlan): PaymentPlan[] {
  const draw = drawOf(company, PLANS, job.n);
  const received: Received[] = [];
  for (const invoice of invoicesOf(company, job)) {
    for (const [status, cents, applied] of attemptsOf(invoice.paid, invoice.bill.amounts.total_cents, draw)) {
      const allocations = [{ invoice_id: invoice.id, applied_cents: applied }];
      if (cents > 0) received.push({ status, cents, since: sinceOf(invoice), allocations });
    }
  }
  if (job.batch === job.n) received.push(batchPayment(company, job, draw));
  if (job.n % PREPAID_EVERY === 7) {
    const status = PREPAYMENTS.at(company.seed, Math.floor(job.n / PREPAID_EVERY));
    received.push({ status, cents: draw.between(1, 40) * 2_500, since: job.bookedAt, allocations: [] });
  }
  return received.map((payment, p) => planPayment(company, job, p, draw, payment));
}

function sinceOf(invoice: InvoicePlan): number {
  return invoice.issuedAt ?? invoice.createdAt;
}

/** One payment for the invoices of consecutive jobs; every second one leaves a remainder on the account. */
function batchPayment(company: Company, job: JobPlan, draw: Draw): Received {
  const invoices = Array.from({ length: BATCH_JOBS }, (_, i) => (i === 0 ? job : planJob(company, job.n + i)))
    .flatMap((member) => invoicesOf(company, member))
    .filter(({ slot, bill }) => slot === 'work' && bill.amounts.total_cents > 0);
  const allocations = invoices.map(({ id, bill }) => ({ invoice_id: id, applied_cents: bill.amounts.total_cents }));
  const remainder = draw.chance(0.5) ? 0 : draw.between(1, 99) * 100;
  const cents = allocations.reduce((sum, { applied_cents }) => sum + applied_cents, remainder);
  return { status: 'PAID', cents, since: Math.max(job.bookedAt, ...invoices.map(sinceOf)), allocations };
}

function planPayment(company: Company, job: JobPlan, p: number, draw: Draw, received: Received): PaymentPlan {
  const { since, status, cents, allocations } = received;
  const { zone, until, members } = company;
  const usual = Math.min(until, since + Math.floor(draw.next() ** 3 * 30 * DAY));
  const midnight = zone.startOfDay(zone.day(usual));
  /** Sometimes exactly at, or one microsecond before, local midnight. */
  const createdAt = midnight > since && draw.chance(0.06) ? midnight - draw.below(2) : usual;
  const backdated = draw.chance(0.12);
  return {
    id: idOf(company, PAYMENTS, job.n, p),
    job,
    status,
    method: p === 0 ? METHODS.at(company.seed, job.n) : draw.pick(['CARD', 'ACH', 'CHECK'] as const),
    cents,
    occurredAt: backdated ? zone.instant((zone.day(createdAt) - draw.between(1, 20)) * DAY) : createdAt,
    createdAt,
    editedAt: draw.chance(0.4) ? null : Math.min(until, createdAt + draw.below(3) * MINUTE),
    collectedBy: draw.orNull(0.4, draw.pick(draw.chance(0.5) ? members.office : members.technicians).ref),
    allocations,
  };
}
