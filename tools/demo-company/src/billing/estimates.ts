import type { Company } from '../company.ts';
import { drawOf, idOf } from '../ground.ts';
import type { Enum } from '../enums.ts';
import { stream } from '../random/keyed.ts';
import { Rota } from '../random/rota.ts';
import { accountRef } from '../scheduling/customers.ts';
import { planJob } from '../scheduling/job-plan.ts';
import { leadCount } from '../scheduling/lead-plan.ts';
import { locationId } from '../scheduling/locations.ts';
import { VISITS } from '../scheduling/visits.ts';
import { DAY, instantText, instantTextOrNull } from '../time/instant.ts';
import { billOf, ESTIMATE_BILLS } from './bill.ts';
import { estimateOfJob, estimateOfLead, type EstimatePlan } from './estimate-plan.ts';
import type { Amounts } from './money.ts';

const OPTIONS = stream('estimate options');
const DETAILS = stream('estimate details');
const OPTION_COUNTS = new Rota('options of an estimate', [[1, 2], [2, 2], [3, 3]]);
const OPTION_NAMES = [['Repair'], ['Good', 'Better'], ['Good', 'Better', 'Best 🥇']] as const;

export function* buildEstimates(company: Company) {
  for (let n = 0; n < company.size.jobs; n++) {
    const estimate = estimateOfJob(company, planJob(company, n));
    if (estimate) yield buildEstimate(company, estimate);
  }
  for (let n = 0; n < leadCount(company); n++) {
    const estimate = estimateOfLead(company, n);
    if (estimate) yield buildEstimate(company, estimate);
  }
}

/** The options; of a sold estimate one is sold and the others declined. */
function optionsOf(company: Company, { a, b, status, job }: EstimatePlan) {
  const count = OPTION_COUNTS.at(company.seed, a + b);
  const draw = drawOf(company, OPTIONS, a, b);
  const sold = status === 'SOLD' ? draw.below(count) : -1;
  return Array.from({ length: count }, (_, position) => {
    const lines = draw.between(1, 3) + position;
    const terms = {
      trade: job.type.trade,
      lines,
      discounts: draw.chance(0.4) ? 1 : 0,
      multiplier: 1,
      charge: 'usual',
      adjusted: false,
    } as const;
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

function optionStatus(status: Enum<'EstimateStatus'>, sold: boolean): Enum<'OptionStatus'> {
  if (sold) return 'SOLD';
  return status === 'SOLD' || status === 'DECLINED' ? 'DECLINED' : 'OPEN';
}

/** What the sold option comes to, or null. */
export function soldAmounts(company: Company, plan: EstimatePlan): Amounts | null {
  return optionsOf(company, plan).find(({ status }) => status === 'SOLD')?.amounts ?? null;
}

function buildEstimate(company: Company, plan: EstimatePlan) {
  const { job, lead, createdAt, a, b } = plan;
  const draw = drawOf(company, DETAILS, a, b);
  const visit = lead === null && createdAt >= job.bookedAt ? job.visits.at(-1) : undefined;
  return {
    id: plan.id,
    number: `${lead === null ? 'E' : 'EL'}-${20_001 + a}`,
    name: `${job.type.ref.name} – ${draw.pick(['options', 'proposal', '報價', 'devis'])}`,
    status: plan.status,
    account: accountRef(company, job.account),
    location_id: locationId(company, job.account, job.location),
    job_id: lead === null ? job.id : null,
    appointment_id: visit ? idOf(company, VISITS, visit.index) : null,
    job_lead_id: lead?.id ?? null,
    business_unit: job.unit,
    job_type: job.jobType,
    job_class: job.jobClass,
    currency: 'USD',
    options: optionsOf(company, plan),
    sold_at: instantTextOrNull(plan.soldAt),
    sold_by: plan.soldBy,
    sent_at: instantTextOrNull(plan.sentAt),
    expires_at: plan.sentAt === null || draw.chance(0.2) ? null : instantText(plan.sentAt + 30 * DAY),
    created_by: draw.orNull(0.15, draw.pick(company.members.sales).ref),
    created_at: instantText(createdAt),
    updated_at: instantText(Math.max(createdAt, plan.soldAt ?? plan.sentAt ?? createdAt)),
  };
}
