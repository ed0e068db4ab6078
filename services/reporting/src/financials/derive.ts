// Job financials follow jobs, assignments, invoices and company settings: a transaction that changes one here refreshes the affected jobs.
import { countedDay, formatDate } from '@truckroll/contract';
import type { JobFinancials, JobInvoice } from '@truckroll/contract/gen/reporting/v1/job_financials';
import type { Transaction } from '@truckroll/postgres';
import { LARGEST_RECORD, type Changed } from '@truckroll/record-store';
import { readSources, sourcesOf, type ReadModels, type Sources } from './sources.ts';
import { reportedAt, totalsOf } from './totals.ts';

/** The derived fields of each financial of the batch, by id (decisions §2), from the read models as the transaction sees them. */
export async function deriveFinancials(tx: Transaction, companyId: string, batch: readonly Changed<JobFinancials>[]): Promise<ReadonlyMap<string, Derived>> {
  const ids = batch.map(({ id }) => id);
  return derivedFinancials(batch, await readSources(tx, companyId, ids));
}

/** From read models already loaded. */
export function derivedFinancials(batch: readonly Changed<JobFinancials>[], readModels: ReadModels): ReadonlyMap<string, Derived> {
  return new Map(batch.map(({ id, record }) => [id, derivedFields(record, sourcesOf(readModels, id), readModels.settings)]));
}

type Derived = Pick<JobFinancials, (typeof DERIVED_FIELDS)[number]>;

/** Fields taken from the read models. The line's description of the job is used until the job has arrived. */
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
  'omitted_invoices',
] as const;

/** Maximum size of an invoice in a financial, in bytes, without its number. */
const INVOICE_BYTES = 80;

function derivedFields(recorded: JobFinancials, { job, invoices, participants }: Sources, settings: ReadModels['settings']): Derived {
  const { number, account, location_id, business_unit, job_type, job_class, created_at } = job ?? recorded;
  const totals = totalsOf(invoices, recorded.cost_entries);
  const shown = firstInvoices(invoices);
  const { at, basis } = reportedAt(invoices, { created_at, completed_at: job?.completed_at ?? null });
  return {
    number,
    account,
    location_id,
    business_unit: business_unit ?? null,
    job_type: job_type ?? null,
    job_class: job_class ?? null,
    created_at,
    participants: [...participants],
    report_date: formatDate(countedDay(at, settings.time_zone)),
    report_date_basis: basis,
    costing: recorded.costing && { ...recorded.costing, enabled: settings.costing_enabled },
    // A financial without totals is not shown: see unshown.ts.
    totals: 'beyond' in totals ? null : totals,
    invoices: shown,
    omitted_invoices: invoices.length - shown.length || null,
  };
}

/** The first of these that have at most LARGEST_RECORD bytes together, so that every financial fits into a message of gRPC. */
function firstInvoices(invoices: Sources['invoices']): JobInvoice[] {
  let bytes = 0;
  const end = invoices.findIndex(({ number }) => (bytes += INVOICE_BYTES + Buffer.byteLength(number)) > LARGEST_RECORD);
  return invoices.slice(0, end === -1 ? undefined : end);
}
