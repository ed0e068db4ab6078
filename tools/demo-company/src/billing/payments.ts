import type { Company } from '../company.ts';
import { accountRef } from '../scheduling/customers.ts';
import { planJob } from '../scheduling/job-plan.ts';
import { instantText, instantTextOrNull } from '../time/instant.ts';
import { paymentsOf, type PaymentPlan } from './payment-plan.ts';

export function* buildPayments(company: Company) {
  for (let n = 0; n < company.size.jobs; n++) {
    let p = 0;
    for (const payment of paymentsOf(company, planJob(company, n))) yield buildPayment(company, payment, p++);
  }
}

/** Payments by card reader and from other systems have no number. */
function buildPayment(company: Company, payment: PaymentPlan, p: number) {
  return {
    id: payment.id,
    number: payment.job.n % 7 === 3 ? null : `PAY-${payment.job.number}-${p + 1}`,
    account: accountRef(company, payment.job.account),
    status: payment.status,
    method: payment.method,
    amount_cents: payment.cents,
    currency: 'USD',
    occurred_at: instantText(payment.occurredAt),
    created_at: instantText(payment.createdAt),
    updated_at: instantTextOrNull(payment.editedAt),
    collected_by: payment.collectedBy,
    invoice_allocations: payment.allocations,
  };
}
