import type { Invoice, InvoiceStatus } from '@truckroll/contract/gen/billing/v1/invoices';
import type { PaymentStatus } from '@truckroll/contract/gen/billing/v1/payments';
import { Rota, drawOf, idOf, stream, type Draw } from '../random.ts';
import type { Company, JobPlan } from '../company.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../time.ts';
import { INVOICE_BILLS, billOf, type BillTerms, type Charge } from './bill.ts';
import { maintenancePlanId } from '../scheduling/jobs.ts';
import { makerOf, type Spelled } from '../shapes/maker.ts';

/** One payment attempt: its status, the cents paid, and the cents applied to the invoice. */
export type PaymentAttempt = readonly [status: Spelled<PaymentStatus> | null, paid: number, applied: number];

/** How an invoice is paid. `part` is some of the total, and `up` more than it. */
export const ATTEMPTS = {
  nothing: () => [],
  whole: (total) => [['PAID', total, total]],
  halves: (total, part) => [part, total - part].map((cents) => ['PAID', cents, cents]),
  retried: (total) => (['FAILED', 'PAID'] as const).map((status) => [status, total, total]),
  'rounded up': (total, _, up) => [['PAID', up, total]],
  part: (_, part) => [['PAID', part, part]],
  'too much': (_, __, up) => [['PAID', up, up]],
  pending: (total) => [['PENDING', total, total]],
  processing: (total, part) => [part, total - part].map((cents, n) => [n === 0 ? 'PAID' : 'PROCESSING', cents, cents]),
  failed: (total) => [['FAILED', total, total]],
  canceled: (_, part) => [['CANCELED', part, part]],
  submitting: (total) => [['SUBMITTING', total, total]],
  unknown: (total) => [[null, total, total]],
} as const satisfies Record<string, (total: number, part: number, up: number) => readonly PaymentAttempt[]>;

export type Paid = keyof typeof ATTEMPTS;

interface Course {
  readonly status: Spelled<InvoiceStatus>;
  readonly paid: Paid;
  readonly due: Due;
}

const course = (status: Course['status'], paid: Paid, due: Due, weight: number) => [{ status, paid, due }, weight] as const;

/** Status, payment and due date are dealt together, so that every combination occurs in a small company. */
const COURSES = new Rota<Course>('courses of invoices', [
  course('PAID', 'whole', 'terms', 42),
  course('PAID', 'whole', 'none', 2),
  course('PAID', 'halves', 'terms', 6),
  course('PAID', 'retried', 'terms', 4),
  course('PAID', 'rounded up', 'terms', 3),
  course('OPEN', 'nothing', 'today', 1),
  course('OPEN', 'nothing', 'past 1–30', 1),
  course('OPEN', 'nothing', 'past 31–60', 1),
  course('OPEN', 'nothing', 'terms', 1),
  course('OPEN', 'part', 'past 61–90', 1),
  course('OPEN', 'part', 'ahead', 1),
  course('OPEN', 'pending', 'past 1–30', 2),
  course('OPEN', 'processing', 'none', 2),
  course('OPEN', 'failed', 'past 91+', 1),
  course('OPEN', 'canceled', 'past 31–60', 1),
  course('OPEN', 'submitting', 'today', 1),
  course('OPEN', 'unknown', 'ahead', 1),
  course('OPEN', 'too much', 'past 61–90', 1),
  course('VOIDED', 'nothing', 'terms', 2),
  course('VOIDED', 'submitting', 'terms', 1),
  course('VOIDED', 'canceled', 'none', 1),
  course('VOIDED', 'whole', 'terms', 1),
  course('UNCOLLECTABLE', 'nothing', 'terms', 1),
  course('UNCOLLECTABLE', 'unknown', 'terms', 2),
  course('UNCOLLECTABLE', 'failed', 'terms', 1),
  course('UNCOLLECTABLE', 'part', 'terms', 1),
  course('DRAFT', 'nothing', 'none', 3),
]);

const IN_ADVANCE: Course = { status: 'PAID', paid: 'whole', due: 'terms' };
const AT_ONCE: Course = { status: 'PAID', paid: 'whole', due: 'none' };

/** When an invoice is due: by its terms, never, or on an agreed date that gives it a certain age today. */
type Due = 'terms' | 'none' | 'today' | 'ahead' | 'past 1–30' | 'past 31–60' | 'past 61–90' | 'past 91+';

const AGES = { today: [0, 0], ahead: [-25, -1], 'past 1–30': [1, 30], 'past 31–60': [31, 60], 'past 61–90': [61, 90], 'past 91+': [91, 400] } as const;

const TERMS = [0, 0, 10, 15, 30, 30, 30, 45, 60];

/** Local times of day. Those near midnight fall on another date in UTC. */
const TIMES = [0, 12 * HOUR, 17 * HOUR, 23 * HOUR + 30 * MINUTE, DAY - SECOND];

/** Never before the day of issue: if the invoice is too new for that age, its terms apply. */
function dueAt(company: Company, issuedAt: number, due: Due, draw: Draw): number | null {
  const issuedOn = company.zone.day(issuedAt);
  const terms = issuedOn + draw.pick(TERMS);
  const time = draw.pick(TIMES);
  if (due === 'none') return null;
  const [least, most] = due === 'terms' ? [0, 0] : AGES[due];
  const wanted = due === 'terms' ? terms : company.today - draw.between(least, most);
  return company.zone.instant((wanted < issuedOn ? terms : wanted) * DAY + time);
}

const INVOICES = stream('invoices');
const PLANS = stream('plans of invoices');

const LINES = Rota.ofNumbers('lines of an invoice', { 1: 3, 2: 6, 3: 6, 4: 3, 5: 1, 9: 1 });
const DISCOUNTS = Rota.ofNumbers('discounts of an invoice', { 0: 12, 1: 7, 2: 1 });
const MULTIPLIERS = [1, 1, 1, 1, 1, 1.15, 1.25, 0.9, 1.05];

/** `work`: a job's work. `advance`: a deposit, or a credit. `membership`: an invoice without a job. */
const SLOTS = ['work', 'advance', 'membership'] as const;
type Slot = (typeof SLOTS)[number];

export type InvoicePlan = ReturnType<typeof planInvoice>;

export function invoicesOf(company: Company, job: JobPlan): InvoicePlan[] {
  const draw = drawOf(company, PLANS, job.n);
  const invoices: InvoicePlan[] = [];
  const { jobClass, trade } = job.type;
  const card = COURSES.at(company.seed, job.n);
  const terms = (charge: Charge): BillTerms => ({
    trade,
    charge,
    lines: linesOf(company, job),
    discounts: DISCOUNTS.at(company.seed, job.n),
    multiplier: draw.pick(MULTIPLIERS),
    adjusted: charge === 'usual' && draw.chance(0.08),
  });
  const advance = draw.chance(jobClass === 'INSTALL' ? 0.6 : 0.04);
  if (advance && job.completedAt !== null) {
    const credit = jobClass !== 'INSTALL';
    const given = { ...terms(credit ? 'credit' : 'usual'), lines: 1, discounts: 0 };
    const madeAt = credit ? job.completedAt : job.bookedAt;
    invoices.push(planInvoice(company, job, 'advance', credit ? card : IN_ADVANCE, madeAt, given, draw));
  }
  const charge = chargeOf(job, draw);
  if (charge !== null) {
    const madeAt = job.completedAt ?? job.canceledAt ?? job.bookedAt;
    invoices.push(planInvoice(company, job, 'work', courseOf(company, job, card), madeAt, terms(charge), draw));
  }
  if (draw.chance(0.07)) {
    const given = { ...terms('usual'), trade: 'maintenance', lines: 1, discounts: draw.below(2) } as const;
    invoices.push(planInvoice(company, job, 'membership', AT_ONCE, job.bookedAt, given, draw));
  }
  return invoices;
}

function chargeOf(job: JobPlan, draw: Draw): Charge | null {
  const { jobClass } = job.type;
  if (job.batch !== null) return 'usual';
  if (job.stage === 'CANCELED') return draw.chance(0.2) ? 'usual' : null;
  const begun = job.stage === 'IN_PROGRESS' || job.stage === 'ON_HOLD';
  if (job.completedAt === null) return begun && draw.chance(0.5) ? 'usual' : null;
  if (jobClass === 'WARRANTY' || jobClass === 'CALLBACK') return draw.chance(0.7) ? 'free' : null;
  if (job.type.opportunity) return draw.chance(jobClass === 'SALES' ? 0.6 : 0.4) ? 'usual' : null;
  return draw.chance(0.02) ? 'free' : draw.chance(0.02) ? null : 'usual';
}

/** In a business, small jobs have short bills and installations long ones. */
function linesOf({ seed, shape }: Company, { n, type }: JobPlan): number {
  const lines = LINES.at(seed, n);
  if (!shape.busy) return lines;
  return type.jobClass === 'INSTALL' ? lines + 3 : Math.min(lines, 2);
}

/** Batches are paid, so is most old work of a business, unfinished work is a draft or an advance invoice, and canceled work is void. */
function courseOf(company: Company, job: JobPlan, card: Course): Course {
  if (job.batch !== null) return { status: 'PAID', paid: 'nothing', due: 'terms' };
  if (job.stage === 'CANCELED' && card.status === 'PAID') return { ...card, status: 'VOIDED', paid: 'nothing' };
  if (job.completedAt === null && card.status === 'PAID') return { status: 'DRAFT', paid: 'nothing', due: 'none' };
  if (company.shape.busy && card.status === 'OPEN' && job.n % 8 !== 0 && job.bookedAt < company.until - 60 * DAY) return AT_ONCE;
  const fresh = job.completedAt !== null && job.completedAt > company.until - 20 * DAY;
  return fresh && card.status === 'PAID' && job.n % 2 === 0 ? { status: 'OPEN', paid: 'nothing', due: 'terms' } : card;
}

function planInvoice(company: Company, job: JobPlan, slot: Slot, { status, paid, due }: Course, createdAt: number, terms: BillTerms, draw: Draw) {
  const b = SLOTS.indexOf(slot);
  const empty = status === 'DRAFT' && job.n % 3 === 0 ? { lines: 0, adjusted: false } : {};
  const bill = billOf(company, INVOICE_BILLS, job.n, b, draw, { ...terms, ...empty });
  const issued = status !== 'DRAFT' && !(status === 'VOIDED' && paid === 'nothing' && draw.chance(0.5));
  const issuedAt = issued ? issuedAfter(company, createdAt, draw) : null;
  const settled = status === 'OPEN' && bill.amounts.total_cents === 0;
  return {
    id: idOf(company, INVOICES, job.n, b),
    slot,
    job,
    status: settled ? 'PAID' : status,
    paid: bill.amounts.total_cents > 0 ? paid : 'nothing',
    createdAt,
    issuedAt,
    dueAt: issuedAt === null ? null : dueAt(company, issuedAt, due, draw),
    editedAt: Math.max(createdAt, issuedAt ?? createdAt),
    multiplier: terms.multiplier,
    bill,
  };
}

/** At once or within two days; rarely at the first microsecond of a local day, or the last before it. */
function issuedAfter(company: Company, createdAt: number, draw: Draw): number {
  const usual = createdAt + (draw.chance(0.4) ? 0 : draw.between(1, 48 * 60) * MINUTE + draw.below(SECOND));
  const midnight = company.zone.startOfDay(company.zone.day(usual) + 1);
  const at = draw.chance(0.04) ? midnight : draw.chance(0.04) ? midnight - 1 : usual;
  return at <= company.until ? at : Math.max(createdAt, Math.min(usual, company.until - HOUR));
}

const make = makerOf<Invoice>('invoices');
const DETAILS = stream('invoice details');
const SUFFIX = { work: '', advance: '-A', membership: '-M' } as const;
const WITHOUT_JOB = { job_id: null, location_id: null, job_type: null, job_class: null };

/** Leaves out the fields derived from payments and the date: payment_applications, aging, paid, processing and open balance. */
export function buildInvoice(company: Company, plan: InvoicePlan) {
  const { job, bill } = plan;
  const draw = drawOf(company, DETAILS, job.n);
  const membership = plan.slot === 'membership';
  return make(
    { company, n: job.n * SLOTS.length + SLOTS.indexOf(plan.slot), job },
    {
      id: plan.id,
      number: `INV-${job.number}${SUFFIX[plan.slot]}`,
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
  );
}
