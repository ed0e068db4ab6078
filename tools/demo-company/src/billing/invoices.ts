import type { Company } from '../company.ts';
import { drawOf } from '../ground.ts';
import { stream } from '../random/keyed.ts';
import { accountRef } from '../scheduling/customers.ts';
import { planJob } from '../scheduling/job-plan.ts';
import { maintenancePlanId } from '../scheduling/jobs.ts';
import { locationId } from '../scheduling/locations.ts';
import { instantText, instantTextOrNull } from '../time/instant.ts';
import { invoicesOf, type InvoicePlan } from './invoice-plan.ts';

const DETAILS = stream('invoice details');
const SUFFIX = { work: '', advance: '-A', membership: '-M' } as const;

export function* buildInvoices(company: Company) {
  for (let n = 0; n < company.size.jobs; n++) {
    for (const plan of invoicesOf(company, planJob(company, n))) yield buildInvoice(company, plan);
  }
}

function invoiceNumber({ job, slot }: InvoicePlan): string {
  return `INV-${job.number}${SUFFIX[slot]}`;
}

/** Without what payments and the calendar tell: payment_applications, aging, paid, processing and open balance. */
function buildInvoice(company: Company, plan: InvoicePlan) {
  const { job, bill } = plan;
  const draw = drawOf(company, DETAILS, job.n);
  const membership = plan.slot === 'membership';
  return {
    id: plan.id,
    number: invoiceNumber(plan),
    status: plan.status,
    account: accountRef(company, job.account),
    job_id: membership ? null : job.id,
    location_id: membership ? null : locationId(company, job.account, job.location),
    maintenance_plan_id: membership || job.type.jobClass === 'MAINTENANCE'
      ? maintenancePlanId(company, job.account)
      : null,
    business_unit: job.unit,
    job_type: membership ? null : job.jobType,
    created_by: draw.orNull(0.15, draw.pick(company.members.office).ref),
    job_class: membership ? null : job.jobClass,
    created_at: instantText(plan.createdAt),
    updated_at: instantText(plan.editedAt),
    issued_at: instantTextOrNull(plan.issuedAt),
    due_at: instantTextOrNull(plan.dueAt),
    currency: 'USD',
    pricing_multiplier: plan.multiplier,
    line_items: bill.lines,
    discounts: bill.discounts,
    tax: bill.tax,
    amounts: bill.amounts,
  };
}
