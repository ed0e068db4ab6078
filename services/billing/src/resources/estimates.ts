import { resource } from '@truckroll/contract';
import type { Estimate } from '@truckroll/contract/gen/billing/v1/estimates';
import { NUMBER, defineTable } from '@truckroll/record-store';
import { checkDiscounts, checkLineIds, checkSubtotal, checkTotals } from '../invoices/amounts.ts';

export const estimates = defineTable<Estimate>({
  resource: resource('estimates'),
  table: 'estimates',
  version: 2,
  since: { search: 2, number: 2 },
  columns: {
    number: NUMBER,
    status: 'status',
    account_id: 'account.id',
    location_id: 'location_id',
    job_id: 'job_id',
    sold_by_id: 'sold_by.id',
    sold_at: 'sold_at',
  },
  search: { table: 'estimate_entries', of: ({ number, name }) => ({ texts: [number, name] }) },
  check: ({ options }) => [
    ...checkLineIds(options.map(({ line_items }, i) => ({ lines: line_items, at: `options[${i}].line_items` }))),
    ...options.flatMap(({ line_items, amounts, discounts }, i) => [
      ...checkDiscounts(discounts, `options[${i}].discounts`),
      ...checkSubtotal(line_items, amounts, `options[${i}].amounts`),
      ...checkTotals(amounts, `options[${i}].amounts`),
    ]),
  ],
});
