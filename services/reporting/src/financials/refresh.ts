// Job financials follow jobs, assignments, invoices and company settings. Whoever changes one of those in this schema
// refreshes the jobs concerned in the same transaction.
import { encodeFragment, formatInstant, resource } from '@truckroll/contract';
import type { InvoiceStatus } from '@truckroll/contract/gen/billing/v1/invoices';
import { JobFinancials, type JobInvoice } from '@truckroll/contract/gen/reporting/v1/job_financials';
import { Job } from '@truckroll/contract/gen/scheduling/v1/jobs';
import type { Queryable } from '@truckroll/service-kit';
import { reportDate, totalsOf } from './reckon.ts';

interface CompanySettings {
  time_zone: string;
  costing_enabled: boolean;
}

interface Copies {
  invoices: ReadonlyMap<string, JobInvoice[]>;
  participants: ReadonlyMap<string, { id: string; name: string }[]>;
  settings: CompanySettings;
}

/** Until integrations has told a company's settings. */
const UNKNOWN_COMPANY: CompanySettings = { time_zone: 'UTC', costing_enabled: true };

/** Reckons stored financials anew. Ids of jobs without financials are passed over. */
export async function refreshFinancials(tx: Queryable, companyId: string, jobIds: readonly string[]): Promise<void> {
  if (jobIds.length === 0) return;
  const { rows } = await tx.query<{ id: string; document: Buffer; job: Buffer | null }>({
    name: 'financials_to_refresh',
    text: `select f.id, f.document, j.document as job from job_financials f
      left join jobs j on j.company_id = f.company_id and j.id = f.id
      where f.company_id = $1 and f.id = any($2::uuid[]) order by f.id for update of f`,
    values: [companyId, jobIds],
  });
  if (rows.length === 0) return;
  const copies = await copiesOf(tx, companyId, rows.map(({ id }) => id));
  const derived = rows.map((row) => derive(JobFinancials.decode(row.document), row.job && Job.decode(row.job), copies));
  await tx.query({
    name: 'refresh_financials',
    text: `update job_financials f set derived = d.derived, job_class = d.job_class, business_unit_id = d.business_unit_id,
        job_type_id = d.job_type_id, report_date = d.report_date, created_at = d.created_at
      from unnest($2::uuid[], $3::bytea[], $4::text[], $5::uuid[], $6::uuid[], $7::date[], $8::timestamptz[])
        d(id, derived, job_class, business_unit_id, job_type_id, report_date, created_at)
      where f.company_id = $1 and f.id = d.id`,
    values: [
      companyId,
      rows.map(({ id }) => id),
      derived.map((record) => Buffer.from(encodeFragment(JobFinancials, record))),
      derived.map(({ job_class }) => (job_class == null ? null : (spellings?.get(job_class) ?? null))),
      derived.map(({ business_unit }) => business_unit?.id ?? null),
      derived.map(({ job_type }) => job_type?.id ?? null),
      derived.map(({ report_date }) => report_date),
      derived.map(({ created_at }) => formatInstant(created_at)),
    ],
  });
}

const spellings = resource('job-financials').record.byName.get('job_class')?.enum?.spellings;
const invoiceStatuses = resource('invoices').record.byName.get('status')?.enum?.generated;

type Derived = Pick<JobFinancials, (typeof DERIVED_FIELDS)[number]>;

/** What the copies say. The line's own account of the job stands in until the job has arrived. */
export const DERIVED_FIELDS = [
  'number', 'account', 'location_id', 'business_unit', 'job_type', 'job_class', 'participants', 'created_at',
  'report_date', 'report_date_basis', 'costing', 'totals', 'invoices',
] as const;

function derive(recorded: JobFinancials, job: Job | null, copies: Copies): Derived {
  const invoices = copies.invoices.get(recorded.id) ?? [];
  const { number, account, location_id, business_unit, job_type, job_class, created_at } = job ?? recorded;
  const { date, basis } = reportDate(invoices, { created_at, completed_at: job?.completed_at ?? null }, copies.settings.time_zone);
  return {
    number,
    account,
    location_id,
    business_unit: business_unit ?? null,
    job_type: job_type ?? null,
    job_class: job_class ?? null,
    created_at,
    participants: copies.participants.get(recorded.id) ?? [],
    report_date: date,
    report_date_basis: basis,
    costing: recorded.costing && { ...recorded.costing, enabled: copies.settings.costing_enabled },
    totals: totalsOf(invoices, recorded.cost_entries),
    invoices,
  };
}

async function copiesOf(tx: Queryable, companyId: string, jobIds: readonly string[]): Promise<Copies> {
  const [invoices, members, settings] = await Promise.all([
    tx.query<Omit<JobInvoice, 'status'> & { job_id: string; status: string }>({
      name: 'invoices_of_jobs',
      text: `select job_id, id, number, status, issued_at, subtotal_cents from invoices
        where company_id = $1 and job_id = any($2::uuid[]) order by job_id, issued_at, created_at, id`,
      values: [companyId, jobIds],
    }),
    tx.query<{ job_id: string; id: string; name: string }>({
      name: 'participants_of_jobs',
      text: `select job_id, team_member_id as id, min(team_member_name) as name from assignments
        where company_id = $1 and job_id = any($2::uuid[]) group by job_id, team_member_id order by job_id, team_member_id`,
      values: [companyId, jobIds],
    }),
    tx.query<CompanySettings>({ text: 'select time_zone, costing_enabled from companies where company_id = $1', values: [companyId] }),
  ]);
  const invoiceOf = ({ job_id: _, status, ...invoice }: (typeof invoices.rows)[number]): JobInvoice => {
    return { ...invoice, status: (invoiceStatuses?.get(status) ?? status) as InvoiceStatus };
  };
  return {
    invoices: mapValues(Map.groupBy(invoices.rows, (row) => row.job_id), invoiceOf),
    participants: mapValues(Map.groupBy(members.rows, (row) => row.job_id), ({ id, name }) => ({ id, name })),
    settings: settings.rows[0] ?? UNKNOWN_COMPANY,
  };
}

function mapValues<A, B>(groups: Map<string, A[]>, of: (value: A) => B): Map<string, B[]> {
  return new Map([...groups].map(([key, values]) => [key, values.map(of)]));
}
