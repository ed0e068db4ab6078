import { CostCategory, type CostEntry, type JobInvoice } from '@truckroll/contract/gen/reporting/v1/job_financials';
import fc from 'fast-check';
import { checkCosts, reportedAt, totalsOf } from '../src/financials/totals.ts';

const MOST = Number.MAX_SAFE_INTEGER;
const invoice = (fields: Partial<JobInvoice>): JobInvoice => ({
  id: 'i',
  number: '1',
  status: 'INVOICE_STATUS_OPEN',
  issued_at: null,
  subtotal_cents: 0,
  ...fields,
});
const COST_FIELDS = ['labor_cost_cents', 'parts_cost_cents', 'equipment_cost_cents', 'misc_cost_cents', 'other_cost_cents'];
const cost = (category: CostEntry['category'], total_cents: number): CostEntry => ({ category, total_cents }) as CostEntry;

test('adds up costs by category and in total, and counts open and paid invoices before tax as revenue', () => {
  const categories = [CostCategory.LABOR, CostCategory.PARTS, CostCategory.EQUIPMENT, CostCategory.MISC, CostCategory.OTHER];
  const cents = fc.integer({ min: -1_000_000_000, max: 1_000_000_000 });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...categories), cents)),
      fc.array(fc.tuple(fc.constantFrom('OPEN', 'PAID', 'DRAFT', 'VOIDED'), cents)),
      (costs, invoices) => {
        const sum = (values: readonly number[]) => Number(values.reduce((total, value) => total + BigInt(value), 0n));
        const totals = totalsOf(
          invoices.map(([status, subtotal_cents]) => invoice({ status: `INVOICE_STATUS_${status}` as JobInvoice['status'], subtotal_cents })),
          costs.map(([category, total]) => cost(category, total)),
        );
        const revenue = sum(invoices.filter(([status]) => status === 'OPEN' || status === 'PAID').map(([, value]) => value));
        const all = sum(costs.map(([, value]) => value));
        expect(totals).toMatchObject({
          revenue_cents: revenue,
          total_cost_cents: all,
          gross_profit_cents: revenue - all,
          ...Object.fromEntries(categories.map((category, i) => [COST_FIELDS[i], sum(costs.filter(([own]) => own === category).map(([, value]) => value))])),
        });
      },
    ),
  );
});

test.each([
  [10_000, 7_500, 0.25],
  [10_000, 12_345, -0.2345],
  // Half of a ten-thousandth rounds up, below 0 as well.
  [20_000, 19_999, 0.0001],
  [20_000, 20_001, 0],
  [0, 100, 0],
])('with a revenue of %i cents and costs of %i, computes the margin %p', (subtotal_cents, total_cents, gross_margin) => {
  expect(totalsOf([invoice({ subtotal_cents })], [cost(CostCategory.OTHER, total_cents)])).toMatchObject({
    gross_profit_cents: subtotal_cents - total_cents,
    gross_margin,
  });
});

test('shows totals of 0 for a job without invoices and costs, and ignores costs of unknown categories', () => {
  const nothing = Object.fromEntries([...COST_FIELDS, 'revenue_cents', 'total_cost_cents', 'gross_profit_cents', 'gross_margin'].map((name) => [name, 0]));
  expect(totalsOf([], [])).toEqual(nothing);
  expect(totalsOf([], [cost('COST_CATEGORY_UNSPECIFIED', 5)])).toEqual(nothing);
});

test('names a sum beyond the range of cents and never rounds it', () => {
  expect(totalsOf([], [cost(CostCategory.PARTS, MOST), cost(CostCategory.PARTS, 1)])).toEqual({ beyond: 'parts_cost_cents' });
  expect(totalsOf([], [cost(CostCategory.PARTS, MOST), cost(CostCategory.LABOR, 1)])).toEqual({ beyond: 'total_cost_cents' });
  expect(totalsOf([invoice({ subtotal_cents: MOST }), invoice({ subtotal_cents: 1 })], [])).toEqual({ beyond: 'revenue_cents' });
  expect(totalsOf([invoice({ subtotal_cents: MOST })], [cost(CostCategory.PARTS, -1)])).toEqual({ beyond: 'gross_profit_cents' });
  expect(checkCosts([cost(CostCategory.PARTS, MOST), cost(CostCategory.LABOR, 1)])).toEqual([
    expect.objectContaining({ field: 'cost_entries', code: 'OUT_OF_RANGE' }),
  ]);
  expect(checkCosts([cost(CostCategory.PARTS, MOST), cost(CostCategory.LABOR, -1)])).toEqual([]);
});

test.each([
  ['its first invoice that counts', 30, 'INVOICE_ISSUED', { VOIDED: 10, DRAFT: 20, PAID: 50, OPEN: 30 }, 2],
  ['its completion without an invoice that was issued and counts', 2, 'JOB_COMPLETED', { VOIDED: 10, OPEN: null }, 2],
  ['its creation until it is complete', 1, 'JOB_CREATED', { DRAFT: 20 }, null],
])('a job counts at the time of %s', (_, at, basis, issued, completed_at) => {
  const invoices = Object.entries(issued).map(([status, issued_at]) => invoice({ status: `INVOICE_STATUS_${status}` as JobInvoice['status'], issued_at }));
  expect(reportedAt(invoices, { created_at: 1, completed_at })).toEqual({ at, basis: `REPORT_DATE_BASIS_${basis}` });
});
