import type { Company } from '../company.ts';
import { drawOf, idOf } from '../ground.ts';
import { ENUMS, type Enum } from '../enums.ts';
import { stream, type Draw } from '../random/keyed.ts';
import { Rota } from '../random/rota.ts';
import { accountRef } from '../scheduling/customers.ts';
import { planJob } from '../scheduling/job-plan.ts';
import { DAY, SECOND, instantText } from '../time/instant.ts';
import { paymentsOf, type PaymentPlan } from './payment-plan.ts';

const REFUNDS = stream('refunds');
const STATUSES = new Rota<Enum<'RefundStatus'>>('refunds', [['SUCCEEDED', 4], ['PENDING', 1], ['FAILED', 1], [
  'CANCELED',
  1,
]]);
const REFUNDED = 0.03;

/** The first payment of every method is refunded, and then a few; some twice, in parts. */
export function* buildRefunds(company: Company) {
  const awaited = new Set<string>(ENUMS.PaymentMethod);
  let refunds = 0;
  for (let n = 0; n < company.size.jobs; n++) {
    let p = 0;
    for (const payment of paymentsOf(company, planJob(company, n))) {
      const draw = drawOf(company, REFUNDS, n, p++);
      if (payment.status !== 'PAID' || (!draw.chance(REFUNDED) && !awaited.has(payment.method))) continue;
      awaited.delete(payment.method);
      const parts = draw.chance(0.2) && payment.cents > 1 ? 2 : 1;
      for (let part = 0; part < parts; part++) {
        yield buildRefund(
          company,
          payment,
          idOf(company, REFUNDS, n, p * 2 + part),
          STATUSES.at(company.seed, refunds++),
          parts,
          draw,
        );
      }
    }
  }
}

function buildRefund(
  company: Company,
  payment: PaymentPlan,
  id: string,
  status: Enum<'RefundStatus'>,
  parts: number,
  draw: Draw,
) {
  const createdAt = Math.min(company.until, payment.createdAt + draw.between(0, 25) * DAY + draw.below(DAY));
  return {
    id,
    payment_id: payment.id,
    account: accountRef(company, payment.job.account),
    status,
    amount_cents: parts === 1 && draw.chance(0.6) ? payment.cents : Math.max(1, Math.floor(payment.cents / 2)),
    currency: 'USD',
    occurred_at: instantText(draw.chance(0.2) ? Math.floor(createdAt / SECOND) * SECOND : createdAt),
    created_at: instantText(createdAt),
    payment_method: payment.method,
    collected_by: payment.collectedBy,
  };
}
