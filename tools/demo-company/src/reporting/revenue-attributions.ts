import type { Company } from '../company.ts';
import { drawOf, idOf, type Reference } from '../ground.ts';
import { estimateOfJob } from '../billing/estimate-plan.ts';
import { soldAmounts } from '../billing/estimates.ts';
import { invoicesOf } from '../billing/invoice-plan.ts';
import type { Enum } from '../enums.ts';
import { stream, type Draw } from '../random/keyed.ts';
import { crewOf } from '../scheduling/assignments.ts';
import { planJob, type JobPlan } from '../scheduling/job-plan.ts';
import type { Member } from '../scheduling/team-members.ts';
import { DAY, dateText, instantText } from '../time/instant.ts';

const CREDITS = stream('revenue attributions');
const MANUAL_EVERY = 23;

interface Credit {
  readonly invoiceId: string | null;
  readonly estimateId: string | null;
  readonly member: Reference;
  readonly type: Enum<'CreditType'>;
  readonly share: number;
  readonly cents: number;
  readonly basis: Enum<'CreditBasis'>;
  readonly source: Enum<'CreditSource'>;
  readonly at: number;
}

export function* buildRevenueAttributions(company: Company) {
  for (let n = 0; n < company.size.jobs; n++) {
    const job = planJob(company, n);
    const draw = drawOf(company, CREDITS, n);
    let position = 0;
    for (const credit of creditsOf(company, job, draw)) {
      yield buildCredit(company, job, credit, idOf(company, CREDITS, n, position++), draw);
    }
  }
}

/** Whoever sold an estimate, the crew of the first visit for the invoice, and corrections by hand either way. */
function creditsOf(company: Company, job: JobPlan, draw: Draw): Credit[] {
  const credits: Credit[] = [];
  const estimate = estimateOfJob(company, job);
  const sold = estimate?.soldBy ? soldAmounts(company, estimate) : null;
  if (estimate?.soldBy && estimate.soldAt !== null && sold) {
    credits.push({
      invoiceId: null,
      estimateId: estimate.id,
      member: estimate.soldBy,
      type: 'SOLD',
      share: 1,
      cents: sold.subtotal_cents,
      basis: 'ESTIMATE_SUBTOTAL',
      source: 'AUTOMATIC',
      at: estimate.soldAt,
    });
  }
  const invoice = invoicesOf(company, job).find(({ slot, status }) =>
    slot === 'work' && (status === 'OPEN' || status === 'PAID')
  );
  if (invoice && job.completedAt !== null) {
    const [first] = job.visits;
    const crew = first ? crewOf(company, job, first).map(({ member }) => member.ref) : [];
    const share = Math.round(10_000 / Math.max(1, crew.length)) / 10_000;
    for (const member of crew) {
      const source = draw.chance(0.9) ? 'AUTOMATIC' : 'MANUAL';
      const cents = Math.round(invoice.bill.amounts.subtotal_cents * share) + 0;
      credits.push({
        invoiceId: invoice.id,
        estimateId: null,
        member,
        type: 'EARNED',
        share,
        cents,
        basis: 'INVOICE_SUBTOTAL',
        source,
        at: job.completedAt,
      });
    }
  }
  if (job.n % MANUAL_EVERY === 3) {
    const member = draw.pick<Member>(company.members.technicians).ref;
    const type = draw.chance(0.7) ? 'EARNED' : 'SOLD';
    const at = job.completedAt ?? job.bookedAt;
    credits.push({
      invoiceId: null,
      estimateId: null,
      member,
      type,
      share: draw.pick([0, 0.25, 1]),
      cents: draw.between(-20, 20) * 500,
      basis: 'MANUAL',
      source: 'MANUAL',
      at,
    });
  }
  return credits;
}

function buildCredit(company: Company, job: JobPlan, credit: Credit, id: string, draw: Draw) {
  const manual = credit.source === 'MANUAL';
  const office = draw.pick<Member>(company.members.office).ref;
  return {
    id,
    job_id: job.id,
    invoice_id: credit.invoiceId,
    estimate_id: credit.estimateId,
    team_member: credit.member,
    credit_type: credit.type,
    share: credit.share,
    amount_cents: credit.cents,
    currency: 'USD',
    basis: credit.basis,
    source: credit.source,
    attributed_on: dateText(company.zone.day(credit.at)),
    saved_by: manual ? office : null,
    created_at: instantText(credit.at),
    updated_at: instantText(manual ? Math.min(company.until, credit.at + draw.below(DAY)) : credit.at),
  };
}
