// What an import refuses of the amounts of a document (decisions §1; api.md, InvoiceDiscount).
import { DiscountType } from '@truckroll/contract/gen/billing/v1/pricing';
import { checkDiscounts, checkTotals } from '../src/invoices/amounts.ts';

const totals = { subtotal_cents: 10_000, discount_cents: 1_500, discounted_subtotal_cents: 8_500, tax_cents: 701, total_cents: 9_201 };
const found = (problems: { field: string; code: string }[]): string[] => problems.map(({ field, code }) => `${field} ${code}`);

test('totals that add up are taken, others are refused by name', () => {
  expect(checkTotals(totals, 'amounts')).toEqual([]);
  expect(found(checkTotals({ ...totals, discounted_subtotal_cents: 8_499 }, 'amounts'))).toEqual([
    'amounts.discounted_subtotal_cents OUT_OF_RANGE',
    'amounts.total_cents OUT_OF_RANGE',
  ]);
  expect(checkTotals({ ...totals, total_cents: 9_202 }, 'options[1].amounts')).toEqual([
    { field: 'options[1].amounts.total_cents', code: 'OUT_OF_RANGE', message: 'It must be discounted_subtotal_cents + tax_cents, which is 9201.' },
  ]);
});

test.each([
  ['a flat discount without its amount', { type: DiscountType.FLAT }, ['discounts[0].amount_cents MISSING']],
  ['a flat discount with a rate', { type: DiscountType.FLAT, amount_cents: 500, rate: 0.1 }, ['discounts[0].rate INVALID_FORMAT']],
  ['a rate without its fraction', { type: DiscountType.RATE, amount_cents: 500 }, ['discounts[0].rate MISSING', 'discounts[0].amount_cents INVALID_FORMAT']],
  ['a flat discount of nothing', { type: DiscountType.FLAT, amount_cents: 0 }, []],
  ['a rate of nothing', { type: DiscountType.RATE, rate: 0, amount_cents: null }, []],
])('%s', (_, discount, problems) => {
  expect(found(checkDiscounts([discount], 'discounts'))).toEqual(problems);
});
