import type { InvoiceStatus } from '@truckroll/contract/gen/billing/v1/invoices';
import { Rota } from '../random/rota.ts';
import type { Due } from './due-dates.ts';
import type { Spelled } from '../shapes/given.ts';

export type Paid =
  | 'nothing'
  | 'whole'
  | 'halves'
  | 'retried'
  | 'rounded up'
  | 'part'
  | 'too much'
  | 'pending'
  | 'processing'
  | 'failed'
  | 'canceled'
  | 'submitting'
  | 'unknown';

export interface Course {
  readonly status: Spelled<InvoiceStatus>;
  readonly paid: Paid;
  readonly due: Due;
}

const course = (status: Course['status'], paid: Paid, due: Due, weight: number) => [{ status, paid, due }, weight] as const;

/** Status, payment and due date are dealt together, so that every combination occurs in a small company. */
export const COURSES = new Rota<Course>('courses of invoices', [
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

export const IN_ADVANCE: Course = { status: 'PAID', paid: 'whole', due: 'terms' };
export const AT_ONCE: Course = { status: 'PAID', paid: 'whole', due: 'none' };
