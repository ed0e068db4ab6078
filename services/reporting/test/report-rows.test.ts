import { shapeNamed, type ApiError } from '@truckroll/contract';
import { figuresOf } from '../src/reports/rows.ts';
import { sumsFor, type ReportQuestion } from '../src/reports/sources.ts';
import { COLLECTIONS, INVOICES, JOBS, PARTICIPATION, factsWhere, measuresOf, type SummaryDefinition } from '../src/facts/definitions.ts';
import { DuePeriods } from '../src/sums/due.ts';
import { partsOf } from '../src/sums/statements.ts';

const MOST = 2n ** 53n - 1n;
const PLACE = { period: '2026-03-01', group: null };
const REPORTS: [name: string, summary: SummaryDefinition][] = [
  ['InvoiceActivity', INVOICES],
  ['Collections', COLLECTIONS],
  ['JobProfitability', JOBS],
  ['TechnicianParticipation', PARTICIPATION],
];

const figures = (summary: SummaryDefinition, given: Record<string, number | bigint>, place: { period: string; group: string | null } = PLACE) => {
  const names = measuresOf(summary);
  expect(names).toEqual(expect.arrayContaining(Object.keys(given)));
  const measures = names.map((name) => BigInt(given[name] ?? 0));
  return figuresOf(summary, measures, place);
};

test.each(REPORTS)('computes each figure that the contract has in a row of %s, and no other', (name, summary) => {
  const { fields } = shapeNamed(`truckroll.reporting.v1.${name}Row`);
  const figuresInContract = fields.map((field) => field.name).filter((field) => !['period_start', 'period_end', 'currency', 'group'].includes(field));
  expect(Object.keys(figures(summary, {})).toSorted()).toEqual(figuresInContract.toSorted());
});

test.each([
  [INVOICES, ['invoices']],
  [COLLECTIONS, ['payments', 'refunds']],
  [JOBS, ['job_facts']],
  [PARTICIPATION, ['job_facts']],
] as const)('reads the facts of $report from each of their tables', (summary, tables) => {
  const text = factsWhere(summary, 'f.at > $1', 'f.at', 'limit 1');
  expect(Array.from(text.matchAll(/ from ([a-z_]+)/g), ([, table]) => table)).toEqual(tables);
  expect(text.match(/f where f\.at > \$1 limit 1\)/g)).toHaveLength(tables.length);
});

test.each([
  [{ invoice_count: 3, subtotal_cents: 1000, discount_cents: 100, tax_cents: 50 }, 900, 950, 317],
  // Half a cent rounds up, below 0 as well.
  [{ invoice_count: 2, subtotal_cents: 5, discount_cents: 0, tax_cents: 0 }, 5, 5, 3],
  [{ invoice_count: 2, subtotal_cents: -5, discount_cents: 0, tax_cents: 0 }, -5, -5, -2],
  [{ invoice_count: 0, subtotal_cents: 0, discount_cents: 0, tax_cents: 0 }, 0, 0, null],
])('from the sums of invoices %j, computes %i after discounts, %i in total and %p on average', (sums, discounted, total, average) => {
  expect(figures(INVOICES, sums)).toEqual({ ...sums, discounted_subtotal_cents: discounted, total_cents: total, average_total_cents: average });
});

test('subtracts refunds from what was received', () => {
  const sums = { payment_count: 2, refund_count: 1, received_cents: 500, refunded_cents: 700 };
  expect(figures(COLLECTIONS, sums)).toEqual({ ...sums, net_collected_cents: -200 });
});

test.each([['JobProfitability', JOBS] as const, ['TechnicianParticipation', PARTICIPATION] as const])(
  'adds up the five kinds of cost in a row of %s, and computes profit and margin',
  (_, summary) => {
    const costs = { labor_cost_cents: 1, parts_cost_cents: 20, equipment_cost_cents: 300, misc_cost_cents: 4000, other_cost_cents: 50_000 };
    const lost = { job_count: 7, revenue_cents: 40_000, ...costs };
    expect(figures(summary, lost)).toEqual({ ...lost, total_cost_cents: 54_321, gross_profit_cents: -14_321, gross_margin: -0.358 });
    expect(figures(summary, { revenue_cents: 0, misc_cost_cents: 1 })).toMatchObject({ gross_profit_cents: -1, gross_margin: 0 });
  },
);

test('returns figures up to ±(2^53−1), and refuses one beyond them by its name, period and group', () => {
  expect(figures(INVOICES, { invoice_count: 1, subtotal_cents: MOST })).toMatchObject({ total_cents: Number(MOST) });
  expect(figures(COLLECTIONS, { refunded_cents: MOST })).toMatchObject({ net_collected_cents: -Number(MOST) });
  const refused = (given: Record<string, bigint>, group: string | null): ApiError => {
    try {
      figures(INVOICES, { invoice_count: 1n, ...given }, { period: '2026-03-01', group });
    } catch (error) {
      return error as ApiError;
    }
    throw new Error('nothing was refused');
  };
  expect(refused({ subtotal_cents: MOST + 1n }, null)).toMatchObject({
    status: 500,
    message: expect.stringMatching(/^subtotal_cents of the period from 2026-03-01 is beyond/),
  });
  expect(refused({ subtotal_cents: MOST, tax_cents: 1n }, 'HVAC').message).toMatch(/^total_cents of the period from 2026-03-01, group HVAC is beyond/);
});

const publicNames = (report: string, parameter: string): string[] => {
  const field = shapeNamed(`truckroll.reporting.v1.Get${report}ReportRequest`).byName.get(parameter);
  return [...(field?.enum?.names.values() ?? [])].map((name) => name.toLowerCase());
};

test.each([
  ['InvoiceActivity', INVOICES, []],
  ['Collections', COLLECTIONS, []],
  ['JobProfitability', JOBS, []],
  // The contract can only group by team member, but filters by class too.
  ['TechnicianParticipationProfitability', PARTICIPATION, ['job_class']],
] as const)('keeps sums for each dimension that the contract lets %s be grouped or filtered by', (report, { dimensions }, filters) => {
  expect(dimensions.toSorted()).toEqual([...publicNames(report, 'group_by'), ...filters].toSorted());
});

const question = (summary: SummaryDefinition, groupBy: string | null, ...filters: string[]): ReportQuestion => ({
  summary,
  groupBy,
  filters: new Map(filters.map((dimension) => [dimension, ['x']])),
  companyId: 'c',
  timeZone: 'UTC',
  due: new DuePeriods(-Infinity),
  standings: [''],
});

test.each<[string | null, SummaryDefinition, string | null, string[]]>([
  ['sums', INVOICES, null, []],
  ['sums', INVOICES, 'account', []],
  ['sums', INVOICES, null, ['account']],
  ['sums', INVOICES, 'account', ['account']],
  ['crosses', INVOICES, 'business_unit', ['job_type', 'job_class']],
  ['crosses', COLLECTIONS, 'payment_method', ['collector']],
  ['crosses', JOBS, 'job_class', ['job_type', 'business_unit']],
  ['crosses', PARTICIPATION, 'team_member', ['job_class']],
  // There are too many accounts for their combinations to be kept.
  [null, INVOICES, 'account', ['job_type']],
  [null, COLLECTIONS, 'account', ['collector']],
  [null, JOBS, 'job_class', ['account']],
])('reads from %p the report of %j grouped by %p and filtered by %j', (source, summary, groupBy, filters) => {
  expect(sumsFor(question(summary, groupBy, ...filters))).toBe(source);
});

test.each(REPORTS)('keeps sums of %s by day and by month, in total only if no fact is in two rows', (_, summary) => {
  const byDimension = summary.dimensions.flatMap((dimension) => [`${dimension}/day`, `${dimension}/month`]);
  const total = summary === PARTICIPATION ? [] : ['day', 'month'];
  expect([...partsOf(summary, 'day'), ...partsOf(summary, 'month')].toSorted()).toEqual([...byDimension, ...total].toSorted());
});
