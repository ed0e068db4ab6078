import { sumOfCents, type JsonProblem } from '@truckroll/contract';
import { DiscountType, type Discount, type LineItem } from '@truckroll/contract/gen/billing/v1/pricing';
import { PaymentStatus, type Payment } from '@truckroll/contract/gen/billing/v1/payments';

interface Totals {
  subtotal_cents: number;
  discount_cents: number;
  discounted_subtotal_cents: number;
  tax_cents: number;
  total_cents: number;
}

/** Checks the sums of a recorded document (decisions §1); an import rejects other values. */
export function checkTotals(amounts: Totals | null | undefined, at: string): JsonProblem[] {
  if (amounts == null) return [];
  const discounted = amounts.subtotal_cents - amounts.discount_cents;
  const total = amounts.discounted_subtotal_cents + amounts.tax_cents;
  const problems: JsonProblem[] = [];
  const differs = (field: string, given: number, is: string, expected: number): void => {
    if (given === expected) return;
    problems.push({ field: `${at}.${field}`, code: 'OUT_OF_RANGE', message: `It must be ${is}, which is ${expected}.` });
  };
  differs('discounted_subtotal_cents', amounts.discounted_subtotal_cents, 'subtotal_cents − discount_cents', discounted);
  differs('total_cents', amounts.total_cents, 'discounted_subtotal_cents + tax_cents', total);
  return problems;
}

/** Checks that line item ids are distinct within a record, across all lists such as an estimate's options (decisions §12). */
export function checkLineIds(lists: readonly { lines: readonly Pick<LineItem, 'id'>[]; at: string }[]): JsonProblem[] {
  const seen = new Map<string, string>();
  return lists.flatMap(({ lines, at }) =>
    lines.flatMap(({ id }, i): JsonProblem[] => {
      const before = seen.get(id);
      seen.set(id, `${at}[${i}]`);
      return before === undefined ? [] : [{ field: `${at}[${i}].id`, code: 'INVALID_FORMAT', message: `Give it an id of its own: ${before} has the same.` }];
    }),
  );
}

/** Checks that the line items add up to the subtotal (decisions §12). */
export function checkSubtotal(lines: readonly Pick<LineItem, 'subtotal_cents'>[], amounts: Totals | null | undefined, at: string): JsonProblem[] {
  const sum = sumOfCents(lines.map(({ subtotal_cents }) => subtotal_cents));
  if (amounts == null || sum === amounts.subtotal_cents) return [];
  const is = sum === undefined ? 'beyond ±9007199254740991: split the document' : String(sum);
  return [{ field: `${at}.subtotal_cents`, code: 'OUT_OF_RANGE', message: `It must be the sum of the line items' subtotal_cents, which is ${is}.` }];
}

type Configured = Pick<Discount, 'type' | 'amount_cents' | 'rate'>;

/** A flat discount has only an amount, any other only a rate (api.md, InvoiceDiscount); an import rejects other combinations. */
export function checkDiscounts(discounts: readonly Configured[], at: string): JsonProblem[] {
  return discounts.flatMap((discount, i) => {
    const [name, has, lacks] = discount.type === DiscountType.FLAT ? (['FLAT', 'amount_cents', 'rate'] as const) : (['RATE', 'rate', 'amount_cents'] as const);
    const problems: JsonProblem[] = [];
    if (discount[has] == null) problems.push({ field: `${at}[${i}].${has}`, code: 'MISSING', message: `Give it: the discount is ${name}.` });
    if (discount[lacks] != null) {
      problems.push({ field: `${at}[${i}].${lacks}`, code: 'INVALID_FORMAT', message: `Make it null: the discount is ${name}.` });
    }
    return problems;
  });
}

/** How a payment with this latest status counts toward an invoice; the other statuses do not count. */
const COUNTS: Partial<Record<NonNullable<Payment['status']>, 'paid' | 'processing'>> = {
  [PaymentStatus.PAID]: 'paid',
  [PaymentStatus.PENDING]: 'processing',
  [PaymentStatus.PROCESSING]: 'processing',
};

/** Sums an invoice's applications by how their payments count; undefined for a sum beyond the range of cents. */
export function settle(applications: readonly { applied_cents: number; payment_status?: Payment['status'] }[]): {
  paid_cents: number | undefined;
  processing_cents: number | undefined;
} {
  const cents: Record<'paid' | 'processing', number[]> = { paid: [], processing: [] };
  for (const { applied_cents, payment_status } of applications) {
    const counts = payment_status == null ? undefined : COUNTS[payment_status];
    if (counts !== undefined) cents[counts].push(applied_cents);
  }
  return { paid_cents: sumOfCents(cents.paid), processing_cents: sumOfCents(cents.processing) };
}

/** Signed and not clamped for an OPEN invoice, 0 for every other; undefined if it is beyond the range of cents. */
export function openBalance(open: boolean, total: number, paid: number, processing: number): number | undefined {
  return open ? sumOfCents([total, -paid, -processing]) : 0;
}
