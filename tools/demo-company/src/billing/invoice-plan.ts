import type { InvoiceStatus } from '@truckroll/contract/gen/billing/v1/invoices';
import type { Company } from '../company.ts';
import { drawOf, idOf } from '../ground.ts';
import { stream, type Draw } from '../random/keyed.ts';
import { Rota } from '../random/rota.ts';
import type { JobPlan } from '../plans.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../time/instant.ts';
import { billOf, INVOICE_BILLS, type Bill, type BillTerms, type Charge } from './bill.ts';
import { dueAt } from './due-dates.ts';
import { AT_ONCE, COURSES, IN_ADVANCE, type Course, type Paid } from './invoice-courses.ts';
import type { Spelled } from '../shapes/given.ts';

const INVOICES = stream('invoices');
const PLANS = stream('plans of invoices');

const LINES = new Rota('lines of an invoice', [
  [1, 3],
  [2, 6],
  [3, 6],
  [4, 3],
  [5, 1],
  [9, 1],
]);
const DISCOUNTS = new Rota('discounts of an invoice', [
  [0, 12],
  [1, 7],
  [2, 1],
]);
const MULTIPLIERS = [1, 1, 1, 1, 1, 1.15, 1.25, 0.9, 1.05];

/** `work`: a job's work. `advance`: a deposit, or a credit. `membership`: an invoice without a job. */
export const SLOTS = ['work', 'advance', 'membership'] as const;
export type Slot = (typeof SLOTS)[number];

export interface InvoicePlan {
  readonly id: string;
  readonly slot: Slot;
  readonly job: JobPlan;
  readonly status: Spelled<InvoiceStatus>;
  readonly paid: Paid;
  readonly createdAt: number;
  readonly issuedAt: number | null;
  readonly dueAt: number | null;
  readonly editedAt: number;
  readonly multiplier: number;
  readonly bill: Bill;
}

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

function planInvoice(company: Company, job: JobPlan, slot: Slot, { status, paid, due }: Course, createdAt: number, terms: BillTerms, draw: Draw): InvoicePlan {
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
