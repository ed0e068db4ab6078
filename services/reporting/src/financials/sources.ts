import { resource } from '@truckroll/contract';
import type { InvoiceStatus } from '@truckroll/contract/gen/billing/v1/invoices';
import type { JobInvoice } from '@truckroll/contract/gen/reporting/v1/job_financials';
import { Job } from '@truckroll/contract/gen/scheduling/v1/jobs';
import { uuidOf, binaryArrays, type Queryable } from '@truckroll/postgres';

interface CompanySettings {
  time_zone: string;
  costing_enabled: boolean;
}

export interface ReadModels {
  jobs: ReadonlyMap<string, Job>;
  invoices: ReadonlyMap<string, readonly JobInvoice[]>;
  participants: ReadonlyMap<string, readonly Participant[]>;
  settings: CompanySettings;
}

interface Participant {
  id: string;
  name: string;
}

export interface Sources {
  /** Undefined until it has arrived. */
  job: Job | undefined;
  /** By time of issue. */
  invoices: readonly JobInvoice[];
  /** Distinct, in the order of their ids. */
  participants: readonly Participant[];
}

/** Used until integrations has published the company's settings. */
const UNKNOWN_COMPANY: CompanySettings = { time_zone: 'UTC', costing_enabled: true };

const invoiceStatuses = resource('invoices').record.byName.get('status')?.enum?.generated;

/** Those of one job, out of what was read for several. */
export function sourcesOf({ jobs, invoices, participants }: ReadModels, id: string): Sources {
  return { job: jobs.get(id), invoices: invoices.get(id) ?? [], participants: participants.get(id) ?? [] };
}

/** What the financials of these jobs are derived from, and the company's settings, in four queries sent together. Locks nothing: see `refreshRecords`. */
export async function readSources(db: Queryable, companyId: string, jobIds: readonly string[]): Promise<ReadModels> {
  const ids = binaryArrays.uuid(jobIds);
  const [jobs, invoices, members, settings] = await Promise.all([
    db.queryBinary({
      name: 'jobs_of_financials',
      text: 'select id, document from jobs where company_id = $1 and id = any($2::uuid[])',
      values: [companyId, ids],
    }),
    db.query<Omit<JobInvoice, 'status'> & { job_id: string; status: string }>({
      name: 'invoices_of_jobs',
      text: `select job_id, id, number, status, issued_at, subtotal_cents from invoices
        where company_id = $1 and job_id = any($2::uuid[]) order by job_id, issued_at, created_at, id`,
      values: [companyId, ids],
    }),
    db.query<{ job_id: string; id: string; name: string }>({
      name: 'participants_of_jobs',
      text: `select job_id, team_member_id as id, min(team_member_name) as name from assignments
        where company_id = $1 and job_id = any($2::uuid[]) group by job_id, team_member_id order by job_id, team_member_id`,
      values: [companyId, ids],
    }),
    db.query<CompanySettings>({ text: 'select time_zone, costing_enabled from companies where company_id = $1', values: [companyId] }),
  ]);
  const shown = invoices.rows.map((row) => ({ ...row, status: (invoiceStatuses?.get(row.status) ?? row.status) as InvoiceStatus }));
  return {
    jobs: new Map(jobs.map(([id, document]) => [uuidOf(id as Buffer), Job.decode(document as Buffer)])),
    invoices: Map.groupBy(shown, (row) => row.job_id),
    participants: Map.groupBy(members.rows, (row) => row.job_id),
    settings: settings.rows[0] ?? UNKNOWN_COMPANY,
  };
}
