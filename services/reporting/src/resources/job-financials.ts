import { resource } from '@truckroll/contract';
import type { JobFinancials } from '@truckroll/contract/gen/reporting/v1/job_financials';
import { defineTable } from '@truckroll/record-store';
import { DERIVED_FIELDS, deriveFinancials } from '../financials/derive.ts';
import { refreshJobFacts } from '../facts/jobs.ts';
import { eligible, standingColumn } from '../facts/standing.ts';
import { checkCosts } from '../financials/totals.ts';
import { checkShown, refuseUnshown, unshown } from '../financials/unshown.ts';

export const jobFinancials = defineTable<JobFinancials>({
  resource: resource('job-financials'),
  table: 'job_financials',
  version: 3,
  since: { account_id: 2, standing: 2 },
  columns: {
    job_class: 'job_class',
    business_unit_id: 'business_unit.id',
    job_type_id: 'job_type.id',
    report_date: 'report_date',
    account_id: 'account.id',
    standing: standingColumn,
    unshown: { type: 'text', of: unshown },
  },
  links: { team_member_id: { table: 'job_financial_members', view: true } },
  decided: { eligible },
  check: ({ cost_entries }) => checkCosts(cost_entries),
  checkShown,
  derivedFields: DERIVED_FIELDS,
  derive: deriveFinancials,
  onRead: refuseUnshown,
  afterChange: refreshJobFacts,
});
