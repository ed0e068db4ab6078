import type { RevenueAttribution } from '@truckroll/contract/gen/reporting/v1/revenue_attributions';
import type { Company } from '../company.ts';
import { drawOf, idOf } from '../ground.ts';
import { estimateOfJob } from '../scheduling/estimate-plan.ts';
import { soldAmounts } from '../billing/estimates.ts';
import { invoicesOf } from '../billing/invoice-plan.ts';
import { stream, type Draw } from '../random/keyed.ts';
import { crewOf } from '../scheduling/assignments.ts';
import type { JobPlan } from '../plans.ts';
import type { Member } from '../scheduling/team-members.ts';
import { DAY, dateText } from '../time/instant.ts';
import type { Given } from '../shapes/given.ts';
import { makerOf } from '../shapes/maker.ts';

const make = makerOf<RevenueAttribution>('revenue-attributions');

const MOST = 16;
const CREDITS = stream('revenue attributions');
const MANUAL_EVERY = 23;
const NEITHER = { invoice_id: null, estimate_id: null };

type Credit = Given<RevenueAttribution> & { readonly at: number };

export function* buildRevenueAttributions(company: Company, job: JobPlan) {
  const draw = drawOf(company, CREDITS, job.n);
  let position = 0;
  for (const credit of creditsOf(company, job, draw)) yield buildCredit(company, job, credit, position++, draw);
}

/** Credits for the seller of an estimate, for the first visit's crew (the invoice), and manual corrections of either sign. */
function creditsOf(company: Company, job: JobPlan, draw: Draw): Credit[] {
  const credits: Credit[] = [];
  const estimate = estimateOfJob(company, job);
  const sold = estimate?.soldBy ? soldAmounts(company, estimate) : null;
  if (estimate?.soldBy && estimate.soldAt !== null && sold) {
    credits.push({
      ...NEITHER,
      estimate_id: estimate.id,
      team_member: estimate.soldBy,
      credit_type: 'SOLD',
      share: 1,
      amount_cents: sold.subtotal_cents,
      basis: 'ESTIMATE_SUBTOTAL',
      source: 'AUTOMATIC',
      at: estimate.soldAt,
    });
  }
  const invoice = invoicesOf(company, job).find(({ slot, status }) => slot === 'work' && (status === 'OPEN' || status === 'PAID'));
  if (invoice && job.completedAt !== null) {
    const [first] = job.visits;
    const crew = first ? crewOf(company, job, first).map(({ member }) => member.ref) : [];
    const share = Math.round(10_000 / Math.max(1, crew.length)) / 10_000;
    for (const member of crew) {
      const source = draw.chance(0.9) ? 'AUTOMATIC' : 'MANUAL';
      const cents = Math.round(invoice.bill.amounts.subtotal_cents * share) + 0;
      credits.push({
        ...NEITHER,
        invoice_id: invoice.id,
        team_member: member,
        credit_type: 'EARNED',
        share,
        amount_cents: cents,
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
      ...NEITHER,
      team_member: member,
      credit_type: type,
      share: draw.pick([0, 0.25, 1]),
      amount_cents: draw.between(-20, 20) * 500,
      basis: 'MANUAL',
      source: 'MANUAL',
      at,
    });
  }
  return credits;
}

function buildCredit(company: Company, job: JobPlan, credit: Credit, position: number, draw: Draw) {
  const manual = credit.source === 'MANUAL';
  const office = draw.pick<Member>(company.members.office).ref;
  return make(
    company,
    job.n * MOST + position,
    {
      id: idOf(company, CREDITS, job.n, position),
      ...credit,
      attributed_on: dateText(company.zone.day(credit.at)),
      saved_by: manual ? office : null,
      created_at: credit.at,
      updated_at: manual ? Math.min(company.until, credit.at + draw.below(DAY)) : credit.at,
    },
    job,
  );
}
