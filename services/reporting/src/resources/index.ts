import { registered } from '@truckroll/record-store';
import { jobFinancials } from './job-financials.ts';
import { revenueAttributions } from './revenue-attributions.ts';

export const tables = registered('reporting', {
  'job-financials': jobFinancials,
  'revenue-attributions': revenueAttributions,
});
