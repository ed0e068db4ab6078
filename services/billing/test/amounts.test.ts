import { DiscountType } from '@truckroll/contract/gen/billing/v1/pricing';
import { PaymentStatus } from '@truckroll/contract/gen/billing/v1/payments';
import { checkDiscounts, checkLineIds, checkSubtotal, checkTotals, openBalance, settle } from '../src/invoices/amounts.ts';

const totals = { subtotal_cents: 10_000, discount_cents: 1_500, discounted_subtotal_cents: 8_500, tax_cents: 701, total_cents: 9_201 };
const found = (problems: { field: string; code: string }[]): string[] => problems.map(({ field, code }) => `${field} ${code}`);

test('accepts totals that add up, and rejects others by field', () => {
  expect(checkTotals(totals, 'amounts')).toEqual([]);
  expect(checkTotals(null, 'amounts')).toEqual([]);
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

test('requires distinct line item ids within a record, also between its lists', () => {
  const lists = (...ids: string[][]) => ids.map((list, i) => ({ at: `list${i}`, lines: list.map((id) => ({ id })) }));
  expect(checkLineIds(lists(['a', 'b'], ['c'], []))).toEqual([]);
  expect(checkLineIds(lists(['a', 'b', 'a'], ['b']))).toEqual([
    { field: 'list0[2].id', code: 'INVALID_FORMAT', message: 'Give it an id of its own: list0[0] has the same.' },
    { field: 'list1[0].id', code: 'INVALID_FORMAT', message: 'Give it an id of its own: list0[1] has the same.' },
  ]);
});

test('requires the subtotal to be the sum of the line items, and reports that sum otherwise', () => {
  const lines = (...cents: number[]) => cents.map((subtotal_cents) => ({ subtotal_cents }));
  expect(checkSubtotal(lines(9_000, 1_500, -500), totals, 'amounts')).toEqual([]);
  expect(checkSubtotal(lines(1), null, 'amounts')).toEqual([]);
  const refused = (is: string) => [
    { field: 'amounts.subtotal_cents', code: 'OUT_OF_RANGE', message: `It must be the sum of the line items' subtotal_cents, which is ${is}.` },
  ];
  expect(checkSubtotal(lines(9_000, 999), totals, 'amounts')).toEqual(refused('9999'));
  expect(checkSubtotal([], totals, 'amounts')).toEqual(refused('0'));
  expect(checkSubtotal(lines(Number.MAX_SAFE_INTEGER, 1), totals, 'amounts')).toEqual(refused('beyond ±9007199254740991: split the document'));
});

test.each([
  [PaymentStatus.PAID, { paid_cents: 7, processing_cents: 0 }],
  [PaymentStatus.PENDING, { paid_cents: 0, processing_cents: 7 }],
  [PaymentStatus.PROCESSING, { paid_cents: 0, processing_cents: 7 }],
  [PaymentStatus.SUBMITTING, { paid_cents: 0, processing_cents: 0 }],
  [PaymentStatus.FAILED, { paid_cents: 0, processing_cents: 0 }],
  [PaymentStatus.CANCELED, { paid_cents: 0, processing_cents: 0 }],
  [null, { paid_cents: 0, processing_cents: 0 }],
])('an application of a payment that is %s counts as %j', (payment_status, sums) => {
  expect(settle([{ applied_cents: 7, ...(payment_status === null ? {} : { payment_status }) }])).toEqual(sums);
});

test('adds up applications by how their payments count, and gives no sum beyond the range of cents', () => {
  const of = (applied_cents: number, payment_status: PaymentStatus) => ({ applied_cents, payment_status });
  const { PAID, PENDING, PROCESSING } = PaymentStatus;
  expect(settle([of(1, PAID), of(20, PENDING), of(300, PAID), of(4_000, PROCESSING)])).toEqual({ paid_cents: 301, processing_cents: 4_020 });
  expect(settle([of(Number.MAX_SAFE_INTEGER, PAID), of(1, PAID), of(2, PENDING)])).toEqual({ paid_cents: undefined, processing_cents: 2 });
});

test('computes the open balance as total minus paid and processing, possibly negative, and 0 unless the invoice is open', () => {
  expect(openBalance(true, 1_000, 300, 50)).toBe(650);
  expect(openBalance(true, 1_000, 900, 300)).toBe(-200);
  expect(openBalance(false, 1_000, 300, 50)).toBe(0);
  expect(openBalance(true, Number.MAX_SAFE_INTEGER, -1, 0)).toBeUndefined();
});
