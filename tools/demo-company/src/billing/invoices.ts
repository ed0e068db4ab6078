import type { Invoice } from '@truckroll/contract/gen/billing/v1/invoices';
import type { Company } from '../company.ts';
import { drawOf } from '../ground.ts';
import { stream } from '../random/keyed.ts';
import type { JobPlan } from '../plans.ts';
import { maintenancePlanId } from '../scheduling/jobs.ts';
import { makerOf } from '../shapes/maker.ts';
import { invoicesOf, SLOTS, type InvoicePlan } from './invoice-plan.ts';

const make = makerOf<Invoice>('invoices');
const DETAILS = stream('invoice details');
const SUFFIX = { work: '', advance: '-A', membership: '-M' } as const;
const WITHOUT_JOB = { job_id: null, location_id: null, job_type: null, job_class: null };

export function* buildInvoices(company: Company, job: JobPlan) {
  for (const plan of invoicesOf(company, job)) yield buildInvoice(company, plan);
}

function invoiceNumber({ job, slot }: InvoicePlan): string {
  return `INV-${job.number}${SUFFIX[slot]}`;
}

/** Leaves out the fields derived from payments and the date: payment_applications, aging, paid, processing and open balance. */
function buildInvoice(company: Company, plan: InvoicePlan) {
  const { job, bill } = plan;
  const draw = drawOf(company, DETAILS, job.n);
  const membership = plan.slot === 'membership';
  return make(
    company,
    job.n * SLOTS.length + SLOTS.indexOf(plan.slot),
    {
      id: plan.id,
      number: invoiceNumber(plan),
      status: plan.status,
      ...(membership ? WITHOUT_JOB : { job_class: job.jobClass }),
      maintenance_plan_id: membership || job.type.jobClass === 'MAINTENANCE' ? maintenancePlanId(company, job.account) : null,
      created_by: draw.orNull(0.15, draw.pick(company.members.office).ref),
      created_at: plan.createdAt,
      updated_at: plan.editedAt,
      issued_at: plan.issuedAt,
      due_at: plan.dueAt,
      pricing_multiplier: plan.multiplier,
      line_items: bill.lines,
      discounts: bill.discounts,
      tax: bill.tax,
      amounts: bill.amounts,
    },
    job,
  );
}
