import type { EstimateAmounts } from '@truckroll/contract/gen/billing/v1/estimates';
import type * as pricing from '@truckroll/contract/gen/billing/v1/pricing';
import type { Whole } from '../shapes/given.ts';

/** Bill arithmetic in whole cents. Quantities and multipliers have at most two decimals, rates at most six. */

export type BillLine = Whole<pricing.LineItem>;
export type Discount = Whole<pricing.Discount>;
export type Tax = Whole<pricing.Tax>;
export type Amounts = Whole<EstimateAmounts>;

const MILLION = 1_000_000;

/** Rounds an exact quotient; half cents go up. Never returns −0, which JSON cannot represent. */
function rounded(cents: number, parts: number, rounding: Tax['rounding']): number {
  return (rounding === 'ceil' ? Math.ceil(cents / parts) : Math.round(cents / parts)) + 0;
}

/** Price × quantity × multiplier, rounded once. */
export function lineSubtotal(unitCents: number, quantity: number, multiplier: number): number {
  return rounded(unitCents * Math.round(quantity * 100) * Math.round(multiplier * 100), 10_000, 'round');
}

/** Discounts apply to the full price of the discountable lines, up to that price. Tax applies to taxable lines after their share of it. */
export function amountsOf(lines: readonly BillLine[], discounts: readonly Discount[], tax: Tax): Amounts {
  let subtotal = 0;
  let taxable = 0;
  let discountable = 0;
  for (const line of lines) {
    subtotal += line.subtotal_cents;
    if (line.taxable) taxable += line.subtotal_cents;
    if (line.discountable) discountable += line.subtotal_cents;
  }
  let wanted = 0;
  for (const { amount_cents: flat, rate } of discounts) {
    wanted += flat ?? rounded(discountable * Math.round((rate ?? 0) * MILLION), MILLION, 'round');
  }
  const discount = Math.max(0, Math.min(wanted, discountable, subtotal));
  const taxed = taxable - (subtotal > 0 ? rounded(discount * taxable, subtotal, 'round') : 0);
  const taxCents = rounded(taxed * Math.round(tax.rate * MILLION), MILLION, tax.rounding);
  return {
    subtotal_cents: subtotal,
    discount_cents: discount,
    discounted_subtotal_cents: subtotal - discount,
    tax_cents: taxCents,
    total_cents: subtotal - discount + taxCents,
  };
}
