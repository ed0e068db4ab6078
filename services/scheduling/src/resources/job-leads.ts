import { resource } from '@truckroll/contract';
import type { JobLead } from '@truckroll/contract/gen/scheduling/v1/job_leads';
import { defineTable } from '@truckroll/record-store';
import { deriveLeads } from '../jobs/derive.ts';

export const jobLeads = defineTable<JobLead>({
  resource: resource('job-leads'),
  table: 'job_leads',
  columns: {
    outcome: 'outcome',
    status_id: 'status.id',
    account_id: 'account.id',
    location_id: 'location_id',
    lead_source_id: 'lead_source.id',
    assigned_to_id: 'assigned_to.id',
    follow_up_on: 'follow_up_on',
  },
  derive: deriveLeads,
});
