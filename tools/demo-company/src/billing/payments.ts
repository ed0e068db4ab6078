import { PaymentMethod, type Payment } from '@truckroll/contract/gen/billing/v1/payments';
import type { Company, JobPlan } from '../company.ts';
import { Rota, drawOf, idOf, stream, type Draw } from '../random.ts';
import { BATCH_JOBS, planJob } from '../scheduling/job-plan.ts';
import { DAY, MINUTE, SECOND } from '../time.ts';
import { ATTEMPTS, invoicesOf, type PaymentAttempt, type InvoicePlan, type Paid } from './invoices.ts';
import { makerOf, type Spelled } from '../shapes/maker.ts';
import type { Refund, RefundStatus } from '@truckroll/contract/gen/billing/v1/refunds';

const PAYMENTS = stream('payments');
const PLANS = stream('plans of payments');

type Method = Spelled<PaymentMethod>;

const METHODS = new Rota<Method>('payment methods', { CARD: 12, ACH: 6, CHECK: 6, CASH: 4, VENMO: 2, PAYPAL: 2, CASHAPP: 2, OTHER: 2, WISETACK_LOAN: 2 });

const PREPAID_EVERY = 29;
const PREPAYMENTS = new Rota<PaymentAttempt[0]>('prepayments', [
  ['PAID', 3],
  ['PENDING', 1],
  ['PROCESSING', 1],
  ['SUBMITTING', 1],
  [null, 1],
]);

type PaymentPlan = ReturnType<typeof planPayment>;

function attemptsOf(paid: Paid, total: number, draw: Draw): readonly PaymentAttempt[] {
  const part = Math.max(1, Math.floor(total * draw.pick([0.25, 0.5, 0.6])));
  return ATTEMPTS[paid](total, part, Math.ceil((total + 1) / 1_000) * 1_000);
}

interface Received {
  readonly status: PaymentAttempt[0];
  readonly cents: number;
  readonly since: number;
  readonly allocations: readonly { invoice_id: string; applied_cents: number }[];
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

function planPayment(company: Company, job: JobPlan, p: number, draw: Draw, received: Received) {
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
    method: p === 0 ? METHODS.at(company.seed, job.n) : draw.pick<Method>(['CARD', 'ACH', 'CHECK']),
    cents,
    occurredAt: backdated ? zone.instant((zone.day(createdAt) - draw.between(1, 20)) * DAY) : createdAt,
    createdAt,
    editedAt: draw.chance(0.4) ? null : Math.min(until, createdAt + draw.below(3) * MINUTE),
    collectedBy: draw.orNull(0.4, draw.pick(draw.chance(0.5) ? members.office : members.technicians).ref),
    allocations,
  };
}

const make = makerOf<Payment>('payments');

const MOST = 16;

/** Payments by card reader or from other systems have no number. */
export function buildPayment(company: Company, payment: PaymentPlan, p: number) {
  const { n, number } = payment.job;
  return make(
    { company, n: n * MOST + p, job: payment.job },
    {
      id: payment.id,
      number: n % 7 === 3 ? null : `PAY-${number}-${p + 1}`,
      status: payment.status,
      method: payment.method,
      amount_cents: payment.cents,
      occurred_at: payment.occurredAt,
      created_at: payment.createdAt,
      updated_at: payment.editedAt,
      collected_by: payment.collectedBy,
      invoice_allocations: payment.allocations,
    },
  );
}

const makeRefund = makerOf<Refund>('refunds');
const REFUNDS = stream('refunds');
const REFUND_STATUSES = new Rota<Spelled<RefundStatus>>('refunds', { SUCCEEDED: 4, PENDING: 1, FAILED: 1, CANCELED: 1 });
const REFUNDED = 0.03;

/** Refunds the first payment of every method and a few others, some twice, in parts. */
export function* buildRefunds(company: Company) {
  const awaited = new Set(Object.keys(PaymentMethod));
  let refunds = 0;
  for (let n = 0; n < company.size.jobs; n++) {
    let p = 0;
    for (const payment of paymentsOf(company, planJob(company, n))) {
      const draw = drawOf(company, REFUNDS, n, p++);
      if (payment.status !== 'PAID' || (!draw.chance(REFUNDED) && !awaited.has(payment.method))) continue;
      awaited.delete(payment.method);
      const parts = draw.chance(0.2) && payment.cents > 1 ? 2 : 1;
      for (let part = 0; part < parts; part++) {
        yield buildRefund(company, payment, idOf(company, REFUNDS, n, p * 2 + part), refunds++, parts, draw);
      }
    }
  }
}

function buildRefund(company: Company, payment: PaymentPlan, id: string, n: number, parts: number, draw: Draw) {
  const createdAt = Math.min(company.until, payment.createdAt + draw.between(0, 25) * DAY + draw.below(DAY));
  return makeRefund(
    { company, n, job: payment.job },
    {
      id,
      payment_id: payment.id,
      status: REFUND_STATUSES.at(company.seed, n),
      amount_cents: parts === 1 && draw.chance(0.6) ? payment.cents : Math.max(1, Math.floor(payment.cents / 2)),
      occurred_at: draw.chance(0.2) ? Math.floor(createdAt / SECOND) * SECOND : createdAt,
      created_at: createdAt,
      payment_method: payment.method,
      collected_by: payment.collectedBy,
    },
  );
}
