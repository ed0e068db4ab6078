import { resource } from '@truckroll/contract';
import type { Estimate } from '@truckroll/contract/gen/billing/v1/estimates';
import { defineTable } from '@truckroll/record-store';
import { checkDiscounts, checkTotals } from '../invoices/amounts.ts';

export const estimates = defineTable<Estimate>({
  resource: resource('estimates'),
  table: 'estimates',
  columns: {
    status: 'status',
    account_id: 'account.id',
    location_id: 'location_id',
    job_id: 'job_id',
    sold_by_id: 'sold_by.id',
    sold_at: 'sold_at',
  },
  check: (estimate) =>
    estimate.options.flatMap(({ amounts, discounts }, i) => [
      ...checkTotals(amounts, `options[${i}].amounts`),
      ...checkDiscounts(discounts, `options[${i}].discounts`),
    ]),
});
