import fc from 'fast-check';
import { amountsOf, lineSubtotal, type BillLine } from '../src/billing/money.ts';
import { loadCompany, type Json } from './company.ts';

const hundredths = (max: number) => fc.integer({ min: 0, max: max * 100 }).map((value) => value / 100);

function roundedHalfUp(numerator: bigint, denominator: bigint): bigint {
  const doubled = 2n * numerator + denominator;
  const quotient = doubled / (2n * denominator);
  return doubled < 0n && doubled % (2n * denominator) !== 0n ? quotient - 1n : quotient;
}

function exactSubtotal(unit: number, quantity: number, multiplier: number): number {
  const exact = BigInt(unit) * BigInt(Math.round(quantity * 100)) * BigInt(Math.round(multiplier * 100));
  return Number(roundedHalfUp(exact, 10_000n));
}

test('a line is price × quantity × multiplier, rounded once and exactly', () => {
  fc.assert(
    fc.property(fc.integer({ min: -2_000_000, max: 2_000_000 }), hundredths(100), hundredths(3), (unit, quantity, multiplier) => {
      expect(lineSubtotal(unit, quantity, multiplier)).toBe(exactSubtotal(unit, quantity, multiplier));
    }),
  );
});

const line = fc
  .record({
    subtotal_cents: fc.integer({ min: -50_000, max: 900_000 }),
    taxable: fc.boolean(),
    discountable: fc.boolean(),
  })
  .map(
    (fields): BillLine => ({
      id: '',
      position: 0,
      name: '',
      description: '',
      quantity: 1,
      unit_price_cents: fields.subtotal_cents,
      ...fields,
    }),
  );
const discount = fc.oneof(
  fc.nat(90_000).map((amount) => ({ id: '', name: '', type: 'FLAT' as const, amount_cents: amount, rate: null })),
  hundredths(1).map((rate) => ({ id: '', name: '', type: 'RATE' as const, amount_cents: null, rate })),
);
const tax = fc.record({
  name: fc.constant(''),
  rate: fc.nat(200_000).map((rate) => rate / 1_000_000),
  rounding: fc.constantFrom('ceil' as const, 'round' as const),
});

test('a discount takes between nothing and the subtotal, and rounding up adds at most one cent of tax', () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 6 }), fc.array(discount, { maxLength: 3 }), tax, (lines, discounts, given) => {
      const amounts = amountsOf(lines, discounts, given);
      expect(amounts.discount_cents).toBeGreaterThanOrEqual(0);
      expect(amounts.discount_cents).toBeLessThanOrEqual(Math.max(0, amounts.subtotal_cents));
      expect(amounts.discounted_subtotal_cents).toBe(amounts.subtotal_cents - amounts.discount_cents);
      expect(amounts.total_cents).toBe(amounts.discounted_subtotal_cents + amounts.tax_cents);
      const up = amountsOf(lines, discounts, { ...given, rounding: 'ceil' }).tax_cents;
      const nearest = amountsOf(lines, discounts, { ...given, rounding: 'round' }).tax_cents;
      expect([0, 1]).toContain(up - nearest);
      for (const cents of Object.values(amounts)) expect(Object.is(cents, -0)).toBe(false);
    }),
  );
});

describe('the bills of a small company', () => {
  const data = loadCompany();
  const options = data.estimates!.flatMap((estimate) => estimate.options.map((option: Json) => ({ ...option, pricing_multiplier: 1 })));
  const bills: Json[] = [...data.invoices!, ...options];

  test('add up, line by line', () => {
    for (const { line_items: lines, amounts, pricing_multiplier: multiplier } of bills) {
      expect(lines.map(({ position }: Json) => position)).toEqual(lines.map((_: Json, n: number) => n));
      for (const { unit_price_cents: unit, quantity, subtotal_cents: subtotal } of lines) {
        expect(subtotal).toBe(exactSubtotal(unit, quantity, multiplier));
      }
      expect(amounts.subtotal_cents).toBe(lines.reduce((sum: number, { subtotal_cents }: Json) => sum + subtotal_cents, 0));
      expect(amounts.discounted_subtotal_cents).toBe(amounts.subtotal_cents - amounts.discount_cents);
      expect(amounts.total_cents).toBe(amounts.discounted_subtotal_cents + amounts.tax_cents);
    }
  });

  test('include credits, free work, adjustments, both roundings and both kinds of discount', () => {
    expect(bills.some(({ amounts }) => amounts.total_cents < 0)).toBe(true);
    expect(bills.some(({ amounts, line_items }) => amounts.total_cents === 0 && line_items.length > 0)).toBe(true);
    expect(bills.some(({ amounts, line_items }) => amounts.total_cents > 0 && line_items.some((item: Json) => item.subtotal_cents < 0))).toBe(true);
    expect(new Set(bills.map(({ tax: { rounding } }) => rounding))).toEqual(new Set(['ceil', 'round']));
    expect(new Set(bills.flatMap(({ discounts }) => discounts.map(({ type }: Json) => type)))).toEqual(new Set(['FLAT', 'RATE']));
  });
});
