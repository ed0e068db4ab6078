// Records of other services can make totals exceed the range of cents. Their events are applied all the same, and reading the
// financial fails (decisions §12).
import { ApiError } from '@truckroll/contract';
import type { JobFinancials } from '@truckroll/contract/gen/reporting/v1/job_financials';
import { uuidOf } from '@truckroll/postgres';
import { RecordError } from '@truckroll/record-store';
import { totalsOf } from './totals.ts';

const LIMIT = '±9007199254740991';

/** The total that cannot be shown for a record with its derived fields; null if all can. */
export function unshown({ invoices, omitted_invoices, cost_entries, totals }: JobFinancials): string | null {
  if (totals != null) return null;
  const again = totalsOf(invoices, cost_entries);
  if ('beyond' in again) return `totals.${again.beyond}`;
  return omitted_invoices == null ? null : 'totals.revenue_cents';
}

/** Errors: RecordError, so that an import rejects the line. */
export function checkShown(record: JobFinancials): void {
  const field = unshown(record);
  if (field !== null) throw new RecordError('job-financials', record.id, field, LIMIT);
}

/** Errors: 500 that names record and field. */
export const refuseUnshown = {
  columns: ['id', 'unshown'],
  fragment(column: (index: number) => Buffer | null): undefined {
    const field = column(1);
    if (field === null) return;
    const where = `${field.toString()} of job-financials/${uuidOf(column(0) as Buffer)}`;
    const message = `${where} is beyond ${LIMIT} and is never rounded: correct the invoices or costs of this job. Other records are served.`;
    throw new ApiError('INTERNAL_ERROR', message);
  },
};
