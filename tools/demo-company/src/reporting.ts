import type {
  CostEntry,
  CostTrackingStatus,
  CostVerificationStatus,
  JobFinancials,
  ReportDateBasis,
} from '@truckroll/contract/gen/reporting/v1/job_financials';
import type { Company, JobPlan } from './company.ts';
import { invoicesOf } from './billing/invoices.ts';
import { itemsOf, pricebookItemId } from './pricebook.ts';
import { Rota, drawOf, idOf, stream, type Draw } from './random.ts';
import { crewOf } from './scheduling/visits.ts';
import { DAY, MINUTE, dateText } from './time.ts';
import { makerOf, type Given, type Spelled } from './shapes/maker.ts';
import type { RevenueAttribution } from '@truckroll/contract/gen/reporting/v1/revenue_attributions';
import { estimateOfJob } from './scheduling/estimate-plan.ts';
import { soldAmounts } from './billing/estimates.ts';
import type { Member } from './scheduling/team-members.ts';

const make = makerOf<JobFinancials>('job-financials');
const COSTING = stream('costing');
const COSTS = stream('cost entries');

const TRACKING = new Rota<Spelled<CostTrackingStatus>>('tracking of costs', { TRACKED: 9, UNTRACKED: 1 });
const VERIFICATION = new Rota<Spelled<CostVerificationStatus>>('verification of costs', { VERIFIED: 7, UNVERIFIED: 3 });
const CENTS_PER_MINUTE = [48, 55, 62, 75];
/** Cost of parts and equipment as a share of their price. */
const COST_SHARE = 0.45;

type Cost = Given<CostEntry> & { readonly quantity: number; readonly unit_cost_cents: number };

const PLAIN = { labor_activity: null, misc_category: null, pricebook_item_id: null };
const BY_HAND = { source: 'manual', quantity: 1, quantity_unit: 'unit' };

/** Leaves out the fields derived from other records: whether costing is enabled, participants, invoices and totals. */
export function buildFinancials(company: Company, job: JobPlan) {
  const draw = drawOf(company, COSTING, job.n);
  const [reportedOn, basis] = reportDate(company, job);
  const recordedAt = job.completedAt ?? job.bookedAt;
  return make(
    { company, n: job.n, job },
    {
      id: job.id,
      number: job.number,
      job_class: job.jobClass,
      created_at: job.bookedAt,
      report_date: dateText(reportedOn),
      report_date_basis: basis,
      costing: {
        tracking_status: TRACKING.at(company.seed, job.n),
        verification_status: VERIFICATION.at(company.seed, job.n),
        job_type_included: job.type.jobClass !== 'UNKNOWN' && !draw.chance(0.04),
      },
      cost_entries: costsOf(company, job, draw).map((cost, position) => ({
        id: idOf(company, COSTS, job.n, position),
        ...PLAIN,
        ...cost,
        total_cents: Math.round((cost.unit_cost_cents * Math.round(cost.quantity * 100)) / 100) + 0,
        created_at: recordedAt,
        updated_at: Math.min(company.until, recordedAt + draw.below(90) * MINUTE),
      })),
    },
  );
}

/** Local day and basis, by decisions §2: first issued open or paid invoice, else completion, else booking. */
function reportDate(company: Company, job: JobPlan): readonly [day: number, basis: Spelled<ReportDateBasis>] {
  const issued = invoicesOf(company, job)
    .filter(({ slot, status }) => slot !== 'membership' && (status === 'OPEN' || status === 'PAID'))
    .flatMap(({ issuedAt }) => issuedAt ?? []);
  if (issued.length > 0) return [company.zone.day(Math.min(...issued)), 'INVOICE_ISSUED'];
  if (job.completedAt !== null) return [company.zone.day(job.completedAt), 'JOB_COMPLETED'];
  return [company.zone.day(job.bookedAt), 'JOB_CREATED'];
}

/** Costs are recorded once work has begun; some jobs never get an entry. */
function costsOf(company: Company, job: JobPlan, draw: Draw): Cost[] {
  if (!job.visits.some(({ startsAt, canceled }) => !canceled && startsAt <= company.until) || draw.chance(0.06)) return [];
  const costs: Cost[] = [];
  for (const visit of job.visits) {
    for (const { member, startsAt, endsAt, status } of crewOf(company, job, visit)) {
      if (status !== 'COMPLETED') continue;
      const labor = draw.orNull(0.1, draw.chance(0.85) ? 'WORK' : 'TRAVEL');
      const quantity = Math.round((endsAt - startsAt) / MINUTE);
      const cents = draw.pick(CENTS_PER_MINUTE);
      costs.push({ ...BY_HAND, category: 'labor', name: member.ref.name, quantity, quantity_unit: 'minute', unit_cost_cents: cents, labor_activity: labor });
    }
  }
  const { trade } = job.type;
  for (const [n, item] of itemsOf(trade).entries()) {
    if (item.cost === 'labor' || !draw.chance(0.3)) continue;
    const itemId = draw.orNull(0.2, pricebookItemId(company, trade, n));
    const bought = { category: item.cost, source: draw.chance(0.7) ? 'invoice' : 'manual', name: item.name, quantity: draw.pick(item.quantities) };
    costs.push({ ...BY_HAND, ...bought, unit_cost_cents: Math.round(item.unitCents * COST_SHARE), pricebook_item_id: itemId });
  }
  if (draw.chance(0.15)) {
    const misc = draw.pick(['Permit', 'Disposal', 'Rental', null]);
    const cents = draw.between(5, 300) * 100;
    costs.push({ ...BY_HAND, category: 'misc', name: misc ?? 'Sundry', unit_cost_cents: cents, misc_category: misc });
  }
  if (draw.chance(0.08)) {
    const [name, cents] = draw.chance(0.5) ? (['Supplier rebate', -4_500] as const) : (['Subcontractor', 18_000] as const);
    costs.push({ ...BY_HAND, category: 'other', name, unit_cost_cents: cents });
  }
  return costs;
}

const makeCredit = makerOf<RevenueAttribution>('revenue-attributions');

const MOST = 16;
const CREDITS = stream('revenue attributions');
const MANUAL_EVERY = 23;
const FOR_SALE = { invoice_id: null, credit_type: 'SOLD', basis: 'ESTIMATE_SUBTOTAL', source: 'AUTOMATIC' } as const;
const FOR_WORK = { estimate_id: null, credit_type: 'EARNED', basis: 'INVOICE_SUBTOTAL' } as const;
const CORRECTION = { invoice_id: null, estimate_id: null, basis: 'MANUAL', source: 'MANUAL' } as const;

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
    credits.push({ ...FOR_SALE, estimate_id: estimate.id, team_member: estimate.soldBy, share: 1, amount_cents: sold.subtotal_cents, at: estimate.soldAt });
  }
  const invoice = invoicesOf(company, job).find(({ slot, status }) => slot === 'work' && (status === 'OPEN' || status === 'PAID'));
  if (invoice && job.completedAt !== null) {
    const [first] = job.visits;
    const crew = first ? crewOf(company, job, first).map(({ member }) => member.ref) : [];
    const share = Math.round(10_000 / Math.max(1, crew.length)) / 10_000;
    for (const member of crew) {
      const source = draw.chance(0.9) ? 'AUTOMATIC' : 'MANUAL';
      const cents = Math.round(invoice.bill.amounts.subtotal_cents * share) + 0;
      credits.push({ ...FOR_WORK, invoice_id: invoice.id, team_member: member, share, amount_cents: cents, source, at: job.completedAt });
    }
  }
  if (job.n % MANUAL_EVERY === 3) {
    const member = draw.pick<Member>(company.members.technicians).ref;
    const type = draw.chance(0.7) ? 'EARNED' : 'SOLD';
    const at = job.completedAt ?? job.bookedAt;
    const share = draw.pick([0, 0.25, 1]);
    credits.push({ ...CORRECTION, team_member: member, credit_type: type, share, amount_cents: draw.between(-20, 20) * 500, at });
  }
  return credits;
}

function buildCredit(company: Company, job: JobPlan, credit: Credit, position: number, draw: Draw) {
  const manual = credit.source === 'MANUAL';
  const office = draw.pick<Member>(company.members.office).ref;
  return makeCredit(
    { company, n: job.n * MOST + position, job },
    {
      id: idOf(company, CREDITS, job.n, position),
      ...credit,
      attributed_on: dateText(company.zone.day(credit.at)),
      saved_by: manual ? office : null,
      created_at: credit.at,
      updated_at: manual ? Math.min(company.until, credit.at + draw.below(DAY)) : credit.at,
    },
  );
}
