import { PaymentMethod } from '@truckroll/contract/gen/billing/v1/payments';
import type { Refund, RefundStatus } from '@truckroll/contract/gen/billing/v1/refunds';
import type { Company } from '../company.ts';
import { drawOf, idOf } from '../ground.ts';
import { stream, type Draw } from '../random/keyed.ts';
import { Rota } from '../random/rota.ts';
import { planJob } from '../scheduling/job-plan.ts';
import { DAY, SECOND } from '../time/instant.ts';
import { paymentsOf, type PaymentPlan } from './payment-plan.ts';
import type { Spelled } from '../shapes/given.ts';
import { makerOf } from '../shapes/maker.ts';

const make = makerOf<Refund>('refunds');
const REFUNDS = stream('refunds');
const STATUSES = new Rota<Spelled<RefundStatus>>('refunds', [
  ['SUCCEEDED', 4],
  ['PENDING', 1],
  ['FAILED', 1],
  ['CANCELED', 1],
]);
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
  return make(
    company,
    n,
    {
      id,
      payment_id: payment.id,
      status: STATUSES.at(company.seed, n),
      amount_cents: parts === 1 && draw.chance(0.6) ? payment.cents : Math.max(1, Math.floor(payment.cents / 2)),
      occurred_at: draw.chance(0.2) ? Math.floor(createdAt / SECOND) * SECOND : createdAt,
      created_at: createdAt,
      payment_method: payment.method,
      collected_by: payment.collectedBy,
    },
    payment.job,
  );
}
