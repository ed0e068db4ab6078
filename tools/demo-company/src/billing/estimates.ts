import type { Estimate, EstimateOptionStatus, EstimateStatus } from '@truckroll/contract/gen/billing/v1/estimates';
import type { Company, JobPlan } from '../company.ts';
import { Rota, drawOf, idOf, stream } from '../random.ts';
import { planJob } from '../scheduling/job-plan.ts';
import { leadCount } from '../scheduling/job-leads.ts';
import { VISITS } from '../scheduling/visits.ts';
import { DAY } from '../time.ts';
import { ESTIMATE_BILLS, billOf } from './bill.ts';
import { estimateOfJob, estimateOfLead, type EstimatePlan } from '../scheduling/estimate-plan.ts';
import type { Amounts } from './money.ts';
import { makerOf, type Spelled } from '../shapes/maker.ts';

const make = makerOf<Estimate>('estimates');
const OPTIONS = stream('estimate options');
const DETAILS = stream('estimate details');
const OPTION_COUNTS = Rota.ofNumbers('options of an estimate', { 1: 2, 2: 2, 3: 3 });
const OPTION_NAMES = [['Repair'], ['Good', 'Better'], ['Good', 'Better', 'Best 🥇']] as const;

export function* estimatesOf(company: Company, job: JobPlan) {
  const estimate = estimateOfJob(company, job);
  if (estimate) yield buildEstimate(company, estimate);
}

export function* buildEstimates(company: Company) {
  for (let n = 0; n < company.size.jobs; n++) yield* estimatesOf(company, planJob(company, n));
  for (let n = 0; n < leadCount(company); n++) {
    const estimate = estimateOfLead(company, n);
    if (estimate) yield buildEstimate(company, estimate);
  }
}

function optionsOf(company: Company, { a, b, status, job }: EstimatePlan) {
  const count = OPTION_COUNTS.at(company.seed, a + b);
  const draw = drawOf(company, OPTIONS, a, b);
  const sold = status === 'SOLD' ? draw.below(count) : -1;
  return Array.from({ length: count }, (_, position) => {
    const lines = draw.between(1, 3) + position;
    const terms = { trade: job.type.trade, lines, discounts: draw.chance(0.4) ? 1 : 0, multiplier: 1, charge: 'usual', adjusted: false } as const;
    const bill = billOf(company, ESTIMATE_BILLS, a, b * 8 + position, draw, terms);
    return {
      id: idOf(company, OPTIONS, a, b * 8 + position),
      name: OPTION_NAMES[count - 1]?.[position] ?? 'Option',
      position,
      status: optionStatus(status, position === sold),
      recommended: count > 1 && position === count - 1,
      line_items: bill.lines,
      discounts: bill.discounts,
      tax: bill.tax,
      amounts: bill.amounts,
    };
  });
}

function optionStatus(status: Spelled<EstimateStatus>, sold: boolean): Spelled<EstimateOptionStatus> {
  if (sold) return 'SOLD';
  return status === 'SOLD' || status === 'DECLINED' ? 'DECLINED' : 'OPEN';
}

export function soldAmounts(company: Company, plan: EstimatePlan): Amounts | null {
  return optionsOf(company, plan).find(({ status }) => status === 'SOLD')?.amounts ?? null;
}

function buildEstimate(company: Company, plan: EstimatePlan) {
  const { job, lead, createdAt, a, b } = plan;
  const draw = drawOf(company, DETAILS, a, b);
  const visit = lead === null && createdAt >= job.bookedAt ? job.visits.at(-1) : undefined;
  return make(
    { company, n: a * 2 + b, job },
    {
      id: plan.id,
      number: `${lead === null ? 'E' : 'EL'}-${20_001 + a}`,
      name: `${job.type.ref.name} – ${draw.pick(['options', 'proposal', '報價', 'devis'])}`,
      status: plan.status,
      ...(lead !== null && { job_id: null }),
      appointment_id: visit ? idOf(company, VISITS, visit.index) : null,
      job_lead_id: lead?.id ?? null,
      job_class: job.jobClass,
      options: optionsOf(company, plan),
      sold_at: plan.soldAt,
      sold_by: plan.soldBy,
      sent_at: plan.sentAt,
      expires_at: plan.sentAt === null || draw.chance(0.2) ? null : plan.sentAt + 30 * DAY,
      created_by: draw.orNull(0.15, draw.pick(company.members.sales).ref),
      created_at: createdAt,
      updated_at: Math.max(createdAt, plan.soldAt ?? plan.sentAt ?? createdAt),
    },
  );
}
