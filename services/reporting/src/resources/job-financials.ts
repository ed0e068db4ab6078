import { resource } from '@truckroll/contract';
import type { JobFinancials } from '@truckroll/contract/gen/reporting/v1/job_financials';
import { defineTable } from '@truckroll/record-store';
import { DERIVED_FIELDS, refreshFinancials } from '../financials/refresh.ts';

export const jobFinancials = defineTable<JobFinancials>({
  resource: resource('job-financials'),
  table: 'job_financials',
  columns: {
    job_class: { type: 'text', maintained: true },
    business_unit_id: { type: 'uuid', maintained: true },
    job_type_id: { type: 'uuid', maintained: true },
    report_date: { type: 'date', maintained: true },
  },
  derivedFields: DERIVED_FIELDS,
  afterChange: (tx, companyId, changed) => refreshFinancials(tx, companyId, changed.map(({ id }) => id)),
});
