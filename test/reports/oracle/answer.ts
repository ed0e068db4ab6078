// Computes a report's rows, in order, from the records alone (decisions §2 and §13).
import type { Json } from '../../support/expected.ts';
import { countedBy, type Counted } from './counted.ts';
import { periodsOf } from './dates.ts';
import type { Question } from './question.ts';
import type { Records } from './records.ts';

const FILTERED: Record<string, string> = {
  status: 'status',
  account_id: 'account',
  business_unit_id: 'business_unit',
  job_type_id: 'job_type',
  job_class: 'job_class',
  method: 'payment_method',
  collected_by_id: 'collector',
  team_member_id: 'team_member',
};

export function answerOf(question: Question, records: Records): Json[] {
  const filters = { ...(question.report === 'invoice-activity' ? { status: ['OPEN', 'PAID'] } : {}), ...question.filters };
  const counted = countedBy(question, records).filter(({ keys }) =>
    Object.entries(filters).every(([name, values]) => values.some((value) => value.toLowerCase() === keys[FILTERED[name] as string]?.toLowerCase())),
  );
  const dimension = question.report === 'technician-participation-profitability' ? 'team_member' : question.groupBy;
  const periods = periodsOf(question.start, question.end, question.bucket);
  const starts = new Map<string, string | undefined>();
  const startOf = (date: string): string | undefined => {
    if (!starts.has(date)) starts.set(date, periods.find(([start, end]) => date >= start && date < end)?.[0]);
    return starts.get(date);
  };
  const byPeriod = Map.groupBy(counted, ({ date }) => startOf(date));
  return periods.flatMap(([start, end]): Json[] => {
    const inside = byPeriod.get(start) ?? [];
    const head = { period_start: start, period_end: end, currency: 'USD' };
    if (dimension === null) return [{ ...head, group: null, ...columnsOf(question, inside) }];
    const groups = [...Map.groupBy(inside, ({ keys }) => keys[dimension] as string | null)].sort(([a], [b]) => nullsLast(a, b));
    return groups.map(([value, of]) => {
      const group = { dimension, value, label: value === null ? null : labelOf(dimension, value, records) };
      return { ...head, group, ...columnsOf(question, of) };
    });
  });
}

function nullsLast(a: string | null, b: string | null): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return a < b ? -1 : 1;
}

function labelOf(dimension: string, value: string, records: Records): string {
  if (dimension === 'payment_method') return value;
  const path = (
    {
      account: 'accounts',
      business_unit: 'business-units',
      job_type: 'job-types',
      job_class: 'job-classes',
      collector: 'team-members',
      team_member: 'team-members',
    } as const
  )[dimension as 'account'];
  const known = records[path].find(({ id }) => id === value)?.['name'];
  if (known !== undefined) return known;
  const line = dimension === 'team_member' ? records['job-assignments'].find(({ team_member }) => team_member.id === value)?.['team_member'].name : undefined;
  return line ?? value;
}

function columnsOf({ report }: Question, counted: readonly Counted[]): Json {
  const sum = (name: string): bigint => counted.reduce((total, { amounts }) => total + (amounts[name] ?? 0n), 0n);
  if (report === 'invoice-activity') {
    const [count, subtotal, discount, tax] = [sum('invoices'), sum('subtotal'), sum('discount'), sum('tax')];
    const total = subtotal - discount + tax;
    return {
      invoice_count: exact(count),
      subtotal_cents: exact(subtotal),
      discount_cents: exact(discount),
      discounted_subtotal_cents: exact(subtotal - discount),
      tax_cents: exact(tax),
      total_cents: exact(total),
      average_total_cents: count === 0n ? null : exact(quotient(total, count)),
    };
  }
  if (report === 'collections') {
    const [received, refunded] = [sum('received'), sum('refunded')];
    return {
      payment_count: exact(sum('payments')),
      received_cents: exact(received),
      refund_count: exact(sum('refunds')),
      refunded_cents: exact(refunded),
      net_collected_cents: exact(received - refunded),
    };
  }
  const costs = ['labor', 'parts', 'equipment', 'misc', 'other'].map((category) => [`${category}_cost_cents`, sum(category)] as const);
  const revenue = sum('revenue');
  const total = costs.reduce((all, [, cents]) => all + cents, 0n);
  const profit = revenue - total;
  return {
    job_count: exact(sum('jobs')),
    revenue_cents: exact(revenue),
    ...Object.fromEntries(costs.map(([name, cents]) => [name, exact(cents)])),
    total_cost_cents: exact(total),
    gross_profit_cents: exact(profit),
    gross_margin: marginOf(profit, revenue),
  };
}

/** A fraction rather than a sum of cents, so a value too large for four decimals becomes the nearest number. */
function marginOf(profit: bigint, revenue: bigint): number {
  return revenue === 0n ? 0 : Number(quotient(profit * 10_000n, revenue)) / 10_000;
}

/** Rounds to the nearest integer, halves toward positive infinity: the greatest integer not above a/b + 1/2. */
function quotient(a: bigint, b: bigint): bigint {
  const [over, under] = b < 0n ? [-2n * a - b, -2n * b] : [2n * a + b, 2n * b];
  const whole = over / under;
  return over % under !== 0n && over < 0n ? whole - 1n : whole;
}

function exact(value: bigint): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new Error(`${value} is beyond what an answer can hold`);
  return number;
}
