import type {
  CostEntry,
  CostTrackingStatus,
  CostVerificationStatus,
  JobFinancials,
  ReportDateBasis,
} from '@truckroll/contract/gen/reporting/v1/job_financials';
import type { Company } from '../company.ts';
import { drawOf, idOf } from '../ground.ts';
import { invoicesOf } from '../billing/invoice-plan.ts';
import { itemsOf, pricebookItemId } from '../reference/pricebook.ts';
import { stream, type Draw } from '../random/keyed.ts';
import { Rota } from '../random/rota.ts';
import { crewOf } from '../scheduling/assignments.ts';
import type { JobPlan } from '../plans.ts';
import { MINUTE, dateText } from '../time/instant.ts';
import type { Given, Spelled } from '../shapes/given.ts';
import { makerOf } from '../shapes/maker.ts';

const make = makerOf<JobFinancials>('job-financials');
const COSTING = stream('costing');
const COSTS = stream('cost entries');

const TRACKING = new Rota<Spelled<CostTrackingStatus>>('tracking of costs', [
  ['TRACKED', 9],
  ['UNTRACKED', 1],
]);
const VERIFICATION = new Rota<Spelled<CostVerificationStatus>>('verification of costs', [
  ['VERIFIED', 7],
  ['UNVERIFIED', 3],
]);
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
    company,
    job.n,
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
    job,
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
      costs.push({
        category: 'labor',
        source: 'manual',
        name: member.ref.name,
        quantity,
        quantity_unit: 'minute',
        unit_cost_cents: draw.pick(CENTS_PER_MINUTE),
        labor_activity: labor,
      });
    }
  }
  const { trade } = job.type;
  for (const [n, item] of itemsOf(trade).entries()) {
    if (item.cost === 'labor' || !draw.chance(0.3)) continue;
    const itemId = draw.orNull(0.2, pricebookItemId(company, trade, n));
    costs.push({
      category: item.cost,
      source: draw.chance(0.7) ? 'invoice' : 'manual',
      name: item.name,
      quantity: draw.pick(item.quantities),
      quantity_unit: 'unit',
      unit_cost_cents: Math.round(item.unitCents * COST_SHARE),
      pricebook_item_id: itemId,
    });
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
