import type { Payment } from '@truckroll/contract/gen/billing/v1/payments';
import type { Company } from '../company.ts';
import type { JobPlan } from '../plans.ts';
import { makerOf } from '../shapes/maker.ts';
import { paymentsOf, type PaymentPlan } from './payment-plan.ts';

const make = makerOf<Payment>('payments');

const MOST = 16;

export function* buildPayments(company: Company, job: JobPlan) {
  let p = 0;
  for (const payment of paymentsOf(company, job)) yield buildPayment(company, payment, p++);
}

/** Payments by card reader or from other systems have no number. */
function buildPayment(company: Company, payment: PaymentPlan, p: number) {
  const { n, number } = payment.job;
  return make(
    company,
    n * MOST + p,
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
    payment.job,
  );
}
