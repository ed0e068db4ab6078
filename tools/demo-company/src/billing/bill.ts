import type { Company } from '../company.ts';
import { idOf } from '../ground.ts';
import { stream, type Draw, type Stream } from '../random/keyed.ts';
import { amountsOf, lineSubtotal, type Amounts, type Discount, type BillLine, type Tax } from './money.ts';
import { itemsOf, type Item, type Trade } from '../reference/pricebook.ts';

export interface Bill {
  readonly lines: BillLine[];
  readonly discounts: Discount[];
  readonly tax: Tax;
  readonly amounts: Amounts;
}

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

const ADJUSTMENT = {
  name: 'Goodwill adjustment',
  description: 'Agreed by phone — “sorry for the wait”',
  unitCents: -2_500,
};

export function billOf(company: Company, kind: BillKind, a: number, b: number, draw: Draw, terms: BillTerms): Bill {
  const items = itemsOf(terms.trade);
  const first = draw.below(items.length);
  const lines: BillLine[] = [];
  for (let position = 0; position < terms.lines; position++) {
    const item = items[(first + position) % items.length] as Item;
    const quantity = draw.pick(item.quantities);
    const unitCents = terms.charge === 'usual' ? item.unitCents : terms.charge === 'free' ? 0 : 0 - item.unitCents;
    lines.push(lineOf(company, kind, a, b, position, item, quantity, unitCents, terms.multiplier));
  }
  if (terms.adjusted) {
    const item: Item = { ...ADJUSTMENT, taxable: false, discountable: false, quantities: [1], cost: 'labor' };
    lines.push(lineOf(company, kind, a, b, terms.lines, item, 1, item.unitCents, terms.multiplier));
  }
  const discounts = discountsOf(company, kind, a, b, draw, terms.discounts);
  const [name, rate] = draw.pick(TAXES);
  const tax: Tax = { name, rate, rounding: draw.chance(0.5) ? 'ceil' : 'round' };
  return { lines, discounts, tax, amounts: amountsOf(lines, discounts, tax) };
}

function lineOf(
  company: Company,
  kind: BillKind,
  a: number,
  b: number,
  position: number,
  item: Item,
  quantity: number,
  unitCents: number,
  multiplier: number,
): BillLine {
  return {
    id: idOf(company, kind.lines, a, b * CHILDREN + position),
    position,
    name: item.name,
    description: item.description,
    quantity,
    unit_price_cents: unitCents,
    subtotal_cents: lineSubtotal(unitCents, quantity, multiplier),
    taxable: item.taxable,
    discountable: item.discountable,
  };
}

function discountsOf(company: Company, kind: BillKind, a: number, b: number, draw: Draw, count: number): Discount[] {
  const discounts: Discount[] = [];
  for (let position = 0; position < count; position++) {
    const id = idOf(company, kind.discounts, a, b * CHILDREN + position);
    if (draw.chance(0.5)) {
      const [name, flat] = draw.pick(FLAT_DISCOUNTS);
      discounts.push({ id, name, type: 'FLAT', amount_cents: flat, rate: null });
    } else {
      const [name, rate] = draw.pick(RATE_DISCOUNTS);
      discounts.push({ id, name, type: 'RATE', amount_cents: null, rate });
    }
  }
  return discounts;
}
