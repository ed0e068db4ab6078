import { resource } from '@truckroll/contract';
import type { RevenueAttribution } from '@truckroll/contract/gen/reporting/v1/revenue_attributions';
import { defineTable } from '@truckroll/record-store';

export const revenueAttributions = defineTable<RevenueAttribution>({
  resource: resource('revenue-attributions'),
  table: 'revenue_attributions',
  columns: {
    team_member_id: 'team_member.id',
    job_id: 'job_id',
    invoice_id: 'invoice_id',
    credit_type: 'credit_type',
    attributed_on: 'attributed_on',
  },
});
