// The receivables report: OPEN invoices by how late they are (decisions §16). Aging moves with the clock, so rows are added up on read.
import { ApiError, centsOf, formatDate, formatInstant, localDay, resource, startOfLocalDate } from '@truckroll/contract';
import {
  ReceivablesBucket as Bucket,
  ReceivablesGroupBy as GroupBy,
  type GetReceivablesReportRequest,
  type GetReceivablesReportResponse,
  type ReceivablesRow,
} from '@truckroll/contract/gen/billing/v1/receivables_report';
import { SummaryDimension as Dimension } from '@truckroll/contract/gen/reporting/v1/report_types';
import type { Database, Statement, Transaction } from '@truckroll/postgres';
import { countBehind, type NameCache } from '@truckroll/record-store';
import { invoices } from '../resources/invoices.ts';

/** In the order of the report, with the days past due up to which an invoice is in them. */
const BUCKETS: readonly (readonly [bucket: Bucket, upTo: number])[] = [
  [Bucket.CURRENT, 0],
  [Bucket.PAST_DUE_1_30, 30],
  [Bucket.PAST_DUE_31_60, 60],
  [Bucket.PAST_DUE_61_90, 90],
  [Bucket.PAST_DUE_91_PLUS, Infinity],
];
const ALL = [...BUCKETS.map(([bucket]) => bucket), Bucket.TOTAL];
const TOTAL = ALL.length - 1;
const FILTERS = ['account_id', 'location_id', 'job_id', 'business_unit_id', 'job_type_id'] as const;
const DIMENSIONS: Partial<Record<GroupBy, { column: string; dimension: Dimension; kind: string }>> = {
  [GroupBy.ACCOUNT]: { column: 'account_id', dimension: Dimension.ACCOUNT, kind: 'accounts' },
  [GroupBy.BUSINESS_UNIT]: { column: 'business_unit_id', dimension: Dimension.BUSINESS_UNIT, kind: 'business-units' },
  [GroupBy.JOB_TYPE]: { column: 'job_type_id', dimension: Dimension.JOB_TYPE, kind: 'job-types' },
};
const NONE = '~';
const RETRY_AFTER = 2;
const classes = resource('invoices').record.byName.get('job_class')?.enum?.spellings;

/** A sum by group and index in ALL. Without groups, the value is empty. */
interface Sum {
  value: string;
  bucket: number;
  count: number;
  cents: string;
}

/** Errors: 503 until the company's invoices have been projected with their open balance; 500 for a sum beyond ±(2^53−1). */
export async function readReceivables(database: Database, names: NameCache, request: GetReceivablesReportRequest): Promise<GetReceivablesReportResponse> {
  const { collection, group_by } = request;
  if (collection == null) throw ApiError.internal(new Error('a report request has no company'));
  const { company_id: companyId, time_zone, limit } = collection;
  const own = database.of(companyId);
  const { asOf, sums } = await own.transaction((tx) => readIn(tx, request), { isolation: 'REPEATABLE READ', readOnly: true });
  const page = sums.slice(0, limit);
  const grouped = DIMENSIONS[group_by ?? GroupBy.UNSPECIFIED];
  const values = new Set(page.map(({ value }) => value).filter((value) => value !== NONE));
  const known = grouped === undefined || values.size === 0 ? undefined : await names.fetch(companyId, new Map([[grouped.kind, values]]), own);
  const labelOf = (value: string): string => {
    const name = grouped && known?.get(grouped.kind, value);
    return name == null ? value : Buffer.from(name).toString();
  };
  const data = page.map(({ value, bucket, count, cents }): ReceivablesRow => {
    const none = value === NONE;
    const group = grouped === undefined ? null : { dimension: grouped.dimension, value: none ? null : value, label: none ? null : labelOf(value) };
    return { group, bucket: ALL[bucket] as Bucket, invoice_count: count, open_balance_cents: exact(cents, value, bucket), currency: 'USD' };
  });
  const last = page.at(-1);
  const next = sums.length > limit && last !== undefined ? Buffer.from(`${last.bucket}${last.value}`) : Buffer.alloc(0);
  return { data, next, report: reportOf(request, asOf), time_zone };
}

async function readIn(tx: Transaction, request: GetReceivablesReportRequest): Promise<{ asOf: number; sums: Sum[] }> {
  const { company_id: companyId, time_zone: timeZone, after } = request.collection as NonNullable<typeof request.collection>;
  // The transaction began before its snapshot, so the snapshot has everything that was committed until then.
  const { rows } = await tx.query<{ at: number }>({ name: 'receivables_as_of', text: 'select now() as at' });
  const asOf = rows[0]?.at as number;
  if ((await countBehind(tx, invoices, companyId, 1)) > 0) {
    const message = 'The open balances of older invoices are still being prepared for this report. Try again after the time in Retry-After.';
    throw new ApiError('INTERNAL_ERROR', message, { status: 503, retryAfterSeconds: RETRY_AFTER });
  }
  const grouped = DIMENSIONS[request.group_by ?? GroupBy.UNSPECIFIED];
  const position = after.length === 0 ? undefined : Buffer.from(after).toString();
  const [bucket, value] = position === undefined ? [-1, ''] : [Number(position[0]), position.slice(1)];
  const { rows: found } = await tx.query<Sum>(statement(request, grouped?.column, value, localDay(asOf, timeZone)));
  const sums = grouped === undefined ? ALL.map((_, at) => found.find((sum) => sum.bucket === at) ?? { value: '', bucket: at, count: 0, cents: '0' }) : found;
  return { asOf, sums: sums.filter((sum) => sum.value !== value || sum.bucket > bucket) };
}

/** Sums from the group `value` on, in the order of the report, one more than a page after the last row of that group. */
function statement(request: GetReceivablesReportRequest, column: string | undefined, value: string, today: number): Statement {
  const { company_id, time_zone, limit } = request.collection as NonNullable<typeof request.collection>;
  const values: unknown[] = [company_id];
  const bind = (bound: unknown, type: string): string => `$${values.push(bound)}::${type}`;
  const dueOn = (days: number): string => bind(formatInstant(startOfLocalDate(formatDate(today - days), time_zone)), 'timestamptz');
  const bounded = BUCKETS.slice(1, -1).map(([, upTo], at) => `when due_at >= ${dueOn(upTo)} then ${at + 1}`);
  const bucket = `case when due_at is null or due_at >= ${dueOn(0)} then 0 ${bounded.join(' ')} else ${BUCKETS.length - 1} end`;
  const conditions = FILTERS.flatMap((name) => (request[name].length === 0 ? [] : [`${name} = any(${bind(request[name], 'uuid[]')})`]));
  if (request.job_class.length > 0)
    conditions.push(
      `job_class = any(${bind(
        request.job_class.map((code) => classes?.get(code) ?? code),
        'text[]',
      )})`,
    );
  if (request.issued_from != null) conditions.push(`issued_at >= ${bind(formatInstant(startOfLocalDate(request.issued_from, time_zone)), 'timestamptz')}`);
  if (request.issued_before != null) conditions.push(`issued_at < ${bind(formatInstant(startOfLocalDate(request.issued_before, time_zone)), 'timestamptz')}`);
  if (column !== undefined && value === NONE) conditions.push(`${column} is null`);
  else if (column !== undefined && value !== '') conditions.push(`(${column} >= ${bind(value, 'uuid')} or ${column} is null)`);
  return {
    label: 'receivables',
    text: `select value, case when grouping(bucket) = 1 then ${TOTAL} else bucket end as bucket, count(*)::integer as count, coalesce(sum(cents), 0)::text as cents
      from (select ${column === undefined ? `''` : `coalesce(${column}::text, '${NONE}')`} as value, ${bucket} as bucket, open_balance_cents as cents
        from invoices where company_id = $1 and status = 'OPEN' ${conditions.map((condition) => `and ${condition}`).join(' ')}) i
      group by grouping sets ((value, bucket), (value)) order by value collate "C", 2 limit ${limit + ALL.length + 1}`,
    values,
  };
}

function exact(sum: string, value: string, bucket: number): number {
  const cents = centsOf(BigInt(sum));
  if (cents !== undefined) return cents;
  const where = `${(ALL[bucket] as string).replace('RECEIVABLES_BUCKET_', '')}${value === '' ? '' : `, group ${value === NONE ? 'null' : value}`}`;
  throw new ApiError('INTERNAL_ERROR', `open_balance_cents of ${where} is beyond ±9007199254740991 and is never rounded: request fewer invoices.`);
}

function reportOf(request: GetReceivablesReportRequest, as_of: number): GetReceivablesReportResponse['report'] {
  const listed = <V>(values: V[]): { values: V[] } | null => (values.length === 0 ? null : { values });
  return {
    group_by: request.group_by ?? null,
    issued_from: request.issued_from ?? null,
    issued_before: request.issued_before ?? null,
    account_id: listed(request.account_id),
    location_id: listed(request.location_id),
    job_id: listed(request.job_id),
    business_unit_id: listed(request.business_unit_id),
    job_type_id: listed(request.job_type_id),
    job_class: listed(request.job_class),
    as_of,
  };
}
