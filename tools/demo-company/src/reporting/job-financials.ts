import type { Company } from '../company.ts';
import { drawOf, idOf } from '../ground.ts';
import { invoicesOf } from '../billing/invoice-plan.ts';
import { itemsOf, pricebookItemId } from '../billing/pricebook.ts';
import type { Enum } from '../enums.ts';
import { stream, type Draw } from '../random/keyed.ts';
import { Rota } from '../random/rota.ts';
import { accountRef } from '../scheduling/customers.ts';
import { crewOf } from '../scheduling/assignments.ts';
import { planJob, type JobPlan } from '../scheduling/job-plan.ts';
import { locationId } from '../scheduling/locations.ts';
import { MINUTE, dateText, instantText } from '../time/instant.ts';

const COSTING = stream('costing');
const COSTS = stream('cost entries');

const TRACKING = new Rota<Enum<'Tracking'>>('tracking of costs', [['TRACKED', 9], ['UNTRACKED', 1]]);
const VERIFICATION = new Rota<Enum<'Verification'>>('verification of costs', [['VERIFIED', 7], ['UNVERIFIED', 3]]);
const CENTS_PER_MINUTE = [48, 55, 62, 75];
/** Parts and equipment cost this share of their price. */
const COST_SHARE = 0.45;

interface Cost {
  readonly category: Enum<'CostCategory'>;
  readonly source: 'manual' | 'invoice';
  readonly name: string;
  readonly quantity: number;
  readonly unit: 'minute' | 'unit';
  readonly unitCents: number;
  readonly labor?: string | null;
  readonly misc?: string | null;
  readonly itemId?: string | null;
}

export function* buildJobFinancials(company: Company) {
  for (let n = 0; n < company.size.jobs; n++) yield buildFinancials(company, planJob(company, n));
}

/** Without what others tell: whether costing is enabled, participants, invoices and totals. */
function buildFinancials(company: Company, job: JobPlan) {
  const draw = drawOf(company, COSTING, job.n);
  const [reportedOn, basis] = reportDate(company, job);
  const recordedAt = job.completedAt ?? job.bookedAt;
  return {
    id: job.id,
    number: job.number,
    account: accountRef(company, job.account),
    location_id: locationId(company, job.account, job.location),
    business_unit: job.unit,
    job_type: job.jobType,
    job_class: job.jobClass,
    created_at: instantText(job.bookedAt),
    report_date: dateText(reportedOn),
    report_date_basis: basis,
    costing: {
      tracking_status: TRACKING.at(company.seed, job.n),
      verification_status: VERIFICATION.at(company.seed, job.n),
      job_type_included: job.type.jobClass !== 'UNKNOWN' && !draw.chance(0.04),
    },
    currency: 'USD',
    cost_entries: costsOf(company, job, draw).map((cost, position) => ({
      id: idOf(company, COSTS, job.n, position),
      category: cost.category,
      source: cost.source,
      name: cost.name,
      quantity: cost.quantity,
      quantity_unit: cost.unit,
      unit_cost_cents: cost.unitCents,
      total_cents: Math.round((cost.unitCents * Math.round(cost.quantity * 100)) / 100) + 0,
      labor_activity: cost.labor ?? null,
      misc_category: cost.misc ?? null,
      pricebook_item_id: cost.itemId ?? null,
      created_at: instantText(recordedAt),
      updated_at: instantText(Math.min(company.until, recordedAt + draw.below(90) * MINUTE)),
    })),
  };
}

/** Local day and basis, by decisions §2: first issued open or paid invoice, else completion, else booking. */
function reportDate(company: Company, job: JobPlan): readonly [day: number, basis: Enum<'ReportDateBasis'>] {
  const issued = invoicesOf(company, job)
    .filter(({ slot, status }) => slot !== 'membership' && (status === 'OPEN' || status === 'PAID'))
    .flatMap(({ issuedAt }) => issuedAt ?? []);
  if (issued.length > 0) return [company.zone.day(Math.min(...issued)), 'INVOICE_ISSUED'];
  if (job.completedAt !== null) return [company.zone.day(job.completedAt), 'JOB_COMPLETED'];
  return [company.zone.day(job.bookedAt), 'JOB_CREATED'];
}

/** Recorded once work has begun; some jobs never get an entry. */
function costsOf(company: Company, job: JobPlan, draw: Draw): Cost[] {
  if (!job.visits.some(({ startsAt, canceled }) => !canceled && startsAt <= company.until) || draw.chance(0.06))
    return [];
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
        unit: 'minute',
        unitCents: draw.pick(CENTS_PER_MINUTE),
        labor,
      });
    }
  }
  const { trade } = job.type;
  for (const [n, item] of itemsOf(trade).entries()) {
    if (item.cost === 'labor' || !draw.chance(0.3)) continue;
    const unitCents = Math.round(item.unitCents * COST_SHARE);
    const itemId = draw.orNull(0.2, pricebookItemId(company, trade, n));
    costs.push({
      category: item.cost,
      source: draw.chance(0.7) ? 'invoice' : 'manual',
      name: item.name,
      quantity: draw.pick(item.quantities),
      unit: 'unit',
      unitCents,
      itemId,
    });
  }
  if (draw.chance(0.15)) {
    const misc = draw.pick(['Permit', 'Disposal', 'Rental', null]);
    costs.push({
      category: 'misc',
      source: 'manual',
      name: misc ?? 'Sundry',
      quantity: 1,
      unit: 'unit',
      unitCents: draw.between(5, 300) * 100,
      misc,
    });
  }
  if (draw.chance(0.08)) {
    const rebate = draw.chance(0.5);
    costs.push({
      category: 'other',
      source: 'manual',
      name: rebate ? 'Supplier rebate' : 'Subcontractor',
      quantity: 1,
      unit: 'unit',
      unitCents: rebate ? -4_500 : 18_000,
    });
  }
  return costs;
}
