import { resource } from '@truckroll/contract';
import type { JobLead } from '@truckroll/contract/gen/scheduling/v1/job_leads';
import { NUMBER, defineTable } from '@truckroll/record-store';
import { deriveLeads } from '../jobs/derive.ts';

export const jobLeads = defineTable<JobLead>({
  resource: resource('job-leads'),
  table: 'job_leads',
  version: 2,
  since: { search: 2, number: 2 },
  columns: {
    number: NUMBER,
    outcome: 'outcome',
    status_id: 'status.id',
    account_id: 'account.id',
    location_id: 'location_id',
    lead_source_id: 'lead_source.id',
    assigned_to_id: 'assigned_to.id',
    follow_up_on: 'follow_up_on',
  },
  search: { table: 'job_lead_entries', of: ({ number, summary }) => ({ texts: [number, summary] }) },
  derive: deriveLeads,
});
