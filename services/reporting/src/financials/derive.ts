// Job financials follow jobs, assignments, invoices and company settings. Whoever changes one of those in this schema
// refreshes the jobs concerned in the same transaction.
import { resource } from '@truckroll/contract';
import type { InvoiceStatus } from '@truckroll/contract/gen/billing/v1/invoices';
import type { JobFinancials, JobInvoice } from '@truckroll/contract/gen/reporting/v1/job_financials';
import { Job } from '@truckroll/contract/gen/scheduling/v1/jobs';
import type { Changed } from '@truckroll/record-store';
import type { Transaction } from '@truckroll/service-kit';
import { reportDate, totalsOf } from './totals.ts';

interface CompanySettings {
  time_zone: string;
  costing_enabled: boolean;
}

interface ReadModels {
  jobs: ReadonlyMap<string, Job>;
  invoices: ReadonlyMap<string, JobInvoice[]>;
  participants: ReadonlyMap<string, { id: string; name: string }[]>;
  settings: CompanySettings;
}

/** Until integrations has published a company's settings. */
const UNKNOWN_COMPANY: CompanySettings = { time_zone: 'UTC', costing_enabled: true };

/** Derived fields by job. */
export async function deriveFinancials(tx: Transaction, companyId: string, batch: readonly Changed<JobFinancials>[]): Promise<ReadonlyMap<string, Derived>> {
  const readModels = await readModelsOf(
    tx,
    companyId,
    batch.map(({ id }) => id),
  );
  return new Map(batch.map(({ id, record }) => [id, derivedFields(record, readModels)]));
}

const invoiceStatuses = resource('invoices').record.byName.get('status')?.enum?.generated;

type Derived = Pick<JobFinancials, (typeof DERIVED_FIELDS)[number]>;

/** What the read models say. The line's own account of the job stands in until the job has arrived. */
export const DERIVED_FIELDS = [
  'number',
  'account',
  'location_id',
  'business_unit',
  'job_type',
  'job_class',
  'participants',
  'created_at',
  'report_date',
  'report_date_basis',
  'costing',
  'totals',
  'invoices',
] as const;

function derivedFields(recorded: JobFinancials, readModels: ReadModels): Derived {
  const job = readModels.jobs.get(recorded.id);
  const invoices = readModels.invoices.get(recorded.id) ?? [];
  const { number, account, location_id, business_unit, job_type, job_class, created_at } = job ?? recorded;
  const totals = totalsOf(invoices, recorded.cost_entries);
  const { date, basis } = reportDate(invoices, { created_at, completed_at: job?.completed_at ?? null }, readModels.settings.time_zone);
  return {
    number,
    account,
    location_id,
    business_unit: business_unit ?? null,
    job_type: job_type ?? null,
    job_class: job_class ?? null,
    created_at,
    participants: readModels.participants.get(recorded.id) ?? [],
    report_date: date,
    report_date_basis: basis,
    costing: recorded.costing && { ...recorded.costing, enabled: readModels.settings.costing_enabled },
    // Without them it is not shown: unshown.ts.
    totals: 'beyond' in totals ? null : totals,
    invoices,
  };
}

async function readModelsOf(tx: Transaction, companyId: string, jobIds: readonly string[]): Promise<ReadModels> {
  const [jobs, invoices, members, settings] = await Promise.all([
    tx.query<{ id: string; document: Buffer }>({
      name: 'jobs_of_financials',
      text: 'select id, document from jobs where company_id = $1 and id = any($2::uuid[])',
      values: [companyId, jobIds],
    }),
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
    jobs: new Map(jobs.rows.map(({ id, document }) => [id, Job.decode(document)])),
    invoices: mapValues(
      Map.groupBy(invoices.rows, (row) => row.job_id),
      invoiceOf,
    ),
    participants: mapValues(
      Map.groupBy(members.rows, (row) => row.job_id),
      ({ id, name }) => ({ id, name }),
    ),
    settings: settings.rows[0] ?? UNKNOWN_COMPANY,
  };
}

function mapValues<A, B>(groups: Map<string, A[]>, of: (value: A) => B): Map<string, B[]> {
  return new Map([...groups].map(([key, values]) => [key, values.map(of)]));
}
