// The baseline of the reports: ordinary tables, indexed by (company, date) and (company, each dimension), and the obvious SQL.
import type { ReportQuestion, SummaryDefinition } from '@truckroll/reporting/reports';
import { measuresOf } from '@truckroll/reporting/reports';
import type pg from 'pg';
import { TIMEZONE } from '../data/companies.ts';

const COSTS = 'revenue_cents, labor_cost_cents, parts_cost_cents, equipment_cost_cents, misc_cost_cents, other_cost_cents';
const COLLECTED = ['account', 'payment_method', 'collector'];
const TABLES = [
  {
    name: 'invoices',
    select: `id, status, issued_at, account_id as account, business_unit_id as business_unit, job_type_id as job_type, job_class collate "C" as job_class,
      subtotal_cents, discount_cents, tax_cents from reporting.invoices`,
    at: 'issued_at',
    dimensions: ['account', 'business_unit', 'job_type', 'job_class'],
  },
  {
    name: 'payments',
    select: `id, status, occurred_at, account_id as account, method collate "C" as payment_method, collected_by_id as collector, amount_cents
      from reporting.payments`,
    at: 'occurred_at',
    dimensions: COLLECTED,
  },
  {
    name: 'refunds',
    select: `id, status, occurred_at, account_id as account, payment_method collate "C" as payment_method, collected_by_id as collector, amount_cents
      from reporting.refunds`,
    at: 'occurred_at',
    dimensions: COLLECTED,
  },
  {
    name: 'jobs',
    select: `id, standing, reported_at, account_id as account, business_unit_id as business_unit, job_type_id as job_type, job_class collate "C" as job_class,
      ${COSTS} from reporting.job_facts`,
    at: 'reported_at',
    dimensions: ['account', 'business_unit', 'job_type', 'job_class'],
  },
  {
    name: 'participations',
    select: `id, member as team_member, standing, reported_at, job_class collate "C" as job_class, ${COSTS} from reporting.job_facts, unnest(members) as member`,
    at: 'reported_at',
    dimensions: ['team_member', 'job_class'],
  },
];

export async function createRaw(client: pg.Client): Promise<void> {
  await client.query('create schema raw');
  for (const { name, select, at, dimensions } of TABLES) {
    await client.query(`create table raw.${name} as select company_id, ${select}`);
    for (const column of [at, ...dimensions]) await client.query(`create index on raw.${name} (company_id, ${column})`);
  }
}

interface Source {
  readonly from: string;
  readonly at: string;
  readonly standing: string;
  readonly measures: Readonly<Record<string, string>>;
}

const SOURCES: Readonly<Record<SummaryDefinition['name'], Source>> = {
  invoice: { from: 'raw.invoices f', at: 'issued_at', standing: 'status', measures: { invoice_count: 'count(*)' } },
  collection: {
    from: `(
      select company_id, occurred_at, account, payment_method, collector, amount_cents as received_cents, null as refunded_cents from raw.payments where status = 'PAID'
      union all
      select company_id, occurred_at, account, payment_method, collector, null, amount_cents from raw.refunds where status = 'SUCCEEDED') f`,
    at: 'occurred_at',
    standing: `''`,
    measures: {
      payment_count: 'count(received_cents)',
      received_cents: 'coalesce(sum(received_cents), 0)',
      refund_count: 'count(refunded_cents)',
      refunded_cents: 'coalesce(sum(refunded_cents), 0)',
    },
  },
  job: { from: 'raw.jobs f', at: 'reported_at', standing: 'standing', measures: { job_count: 'count(*)' } },
  participation: { from: 'raw.participations f', at: 'reported_at', standing: 'standing', measures: { job_count: 'count(*)' } },
};

export interface Asked {
  readonly start: string;
  readonly end: string;
  readonly limit: number;
}

/** Sums by month. */
export function rawStatement({ summary, companyId, groupBy, filters, standings }: ReportQuestion, { start, end, limit }: Asked) {
  const { from, at, standing, measures } = SOURCES[summary.name];
  const values: unknown[] = [companyId, TIMEZONE, start, end];
  const conditions = ['company_id = $1', `${at} >= $3::timestamp at time zone $2`, `${at} < $4::timestamp at time zone $2`];
  if (summary.name !== 'collection') conditions.push(`${standing} = any($${values.push(standings)})`);
  for (const [dimension, of] of filters) conditions.push(`${dimension} = any($${values.push(of)})`);
  const month = `date_trunc('month', ${at} at time zone $2)`;
  const [value, group, order] =
    groupBy === null ? [`''`, month, month] : [`coalesce(${groupBy}::text, '~')`, `${month}, ${groupBy}`, `${month}, ${groupBy} nulls last`];
  const sums = measuresOf(summary).map((name) => `${measures[name] ?? `sum(${name})`}::text as ${name}`);
  return {
    text: `select ${month}::date::text as start, ${value} as value, ${sums.join(', ')}
      from ${from} where ${conditions.join(' and ')} group by ${group} order by ${order} limit ${limit}`,
    values,
  };
}
