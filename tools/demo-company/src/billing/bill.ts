import type { Company } from '../company.ts';
import { idOf, stream, type Draw, type Stream } from '../random.ts';
import { amountsOf, lineSubtotal, type BillLine, type Discount, type Tax } from './money.ts';
import { itemsOf, type Item, type Trade } from '../pricebook.ts';

export interface BillKind {
  readonly lines: Stream;
  readonly discounts: Stream;
}

export const INVOICE_BILLS: BillKind = { lines: stream('invoice lines'), discounts: stream('invoice discounts') };
export const ESTIMATE_BILLS: BillKind = { lines: stream('estimate lines'), discounts: stream('estimate discounts') };

const CHILDREN = 32;

/** `free`: everything at no charge. `credit`: a negative bill. */
export type Charge = 'usual' | 'free' | 'credit';

export interface BillTerms {
  readonly trade: Trade;
  readonly lines: number;
  readonly discounts: number;
  readonly multiplier: number;
  readonly charge: Charge;
  /** Whether one extra line reduces the amount slightly. */
  readonly adjusted: boolean;
}

const FLAT_DISCOUNTS = [
  ['Coupon: $25 off', 2_500],
  ['Neighbor referral', 5_000],
  ['Loyalty 🎁', 1_999],
] as const;
const RATE_DISCOUNTS = [
  ['Membership 10 %', 0.1],
  ['Veterans 7.5 %', 0.075],
  ['Spring special', 0.15],
  ['Treueprämie ⅛', 0.125],
] as const;
const TAXES = [
  ['Sales tax', 0.0825],
  ['Sales tax', 0.0825],
  ['City + county tax', 0.06625],
  ['Tax 8.875 %', 0.08875],
  ['Tax exempt', 0],
] as const;

const ADJUSTMENT: Item = {
  name: 'Goodwill adjustment',
  description: 'Agreed by phone — “sorry for the wait”',
  unitCents: -2_500,
  taxable: false,
  discountable: false,
  quantities: [1],
  cost: 'labor',
};

export function billOf(company: Company, kind: BillKind, a: number, b: number, draw: Draw, terms: BillTerms) {
  const items = itemsOf(terms.trade);
  const first = draw.below(items.length);
  const child = (of: Stream, position: number) => idOf(company, of, a, b * CHILDREN + position);
  const lineOf = ({ name, description, taxable, discountable }: Item, position: number, quantity: number, unitCents: number): BillLine => {
    const prices = { quantity, unit_price_cents: unitCents, subtotal_cents: lineSubtotal(unitCents, quantity, terms.multiplier) };
    return { id: child(kind.lines, position), position, name, description, ...prices, taxable, discountable };
  };
  const lines = Array.from({ length: terms.lines }, (_, position) => {
    const item = items[(first + position) % items.length] as Item;
    const unitCents = terms.charge === 'usual' ? item.unitCents : terms.charge === 'free' ? 0 : 0 - item.unitCents;
    return lineOf(item, position, draw.pick(item.quantities), unitCents);
  });
  if (terms.adjusted) lines.push(lineOf(ADJUSTMENT, terms.lines, 1, ADJUSTMENT.unitCents));
  const discounts = Array.from({ length: terms.discounts }, (_, position): Discount => {
    const [type, names] = draw.chance(0.5) ? (['FLAT', FLAT_DISCOUNTS] as const) : (['RATE', RATE_DISCOUNTS] as const);
    const [name, value] = draw.pick<readonly [string, number]>(names);
    return { id: child(kind.discounts, position), name, type, amount_cents: type === 'FLAT' ? value : null, rate: type === 'RATE' ? value : null };
  });
  const [name, rate] = draw.pick(TAXES);
  const tax: Tax = { name, rate, rounding: draw.chance(0.5) ? 'ceil' : 'round' };
  return { lines, discounts, tax, amounts: amountsOf(lines, discounts, tax) };
}
