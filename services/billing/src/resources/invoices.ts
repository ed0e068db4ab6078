import { resource, topics } from '@truckroll/contract';
import type { Invoice } from '@truckroll/contract/gen/billing/v1/invoices';
import { NUMBER, defineTable } from '@truckroll/record-store';
import { agingOnRead } from '../invoices/aging.ts';
import { checkDiscounts, checkLineIds, checkSubtotal, checkTotals } from '../invoices/amounts.ts';
import { deriveInvoices } from '../invoices/derive.ts';

export const invoices = defineTable<Invoice>({
  resource: resource('invoices'),
  table: 'invoices',
  version: 4,
  since: { created_by_id: 2, open_balance_cents: 3, search: 4, number: 4 },
  columns: {
    number: NUMBER,
    status: 'status',
    account_id: 'account.id',
    location_id: 'location_id',
    job_id: 'job_id',
    business_unit_id: 'business_unit.id',
    job_type_id: 'job_type.id',
    job_class: 'job_class',
    created_by_id: 'created_by.id',
    open_balance_cents: { type: 'bigint', of: ({ amounts }) => amounts?.open_balance_cents ?? 0 },
    issued_at: 'issued_at',
    due_at: 'due_at',
  },
  bounded: { open_balance_from: { column: 'open_balance_cents', only: { status: 'OPEN' } } },
  search: { table: 'invoice_entries', of: ({ number }) => ({ texts: [number] }) },
  check: ({ line_items, discounts, amounts }) => [
    ...checkLineIds([{ lines: line_items, at: 'line_items' }]),
    ...checkDiscounts(discounts, 'discounts'),
    ...checkSubtotal(line_items, amounts, 'amounts'),
    ...checkTotals(amounts, 'amounts'),
  ],
  derive: deriveInvoices,
  // For reporting's read model of every invoice.
  publishes: { topic: topics.invoices, type: 'invoice.changed' },
  onRead: agingOnRead,
});
