import { resource, topics } from '@truckroll/contract';
import type { Payment } from '@truckroll/contract/gen/billing/v1/payments';
import { NUMBER, defineTable, refreshRecords } from '@truckroll/record-store';
import { allocationTo, checkAllocations, storeAllocations } from '../payments/allocations.ts';
import { refundsOf } from '../payments/refunds.ts';
import { invoices } from './invoices.ts';
import { refunds } from './refunds.ts';

export const payments = defineTable<Payment>({
  resource: resource('payments'),
  table: 'payments',
  version: 2,
  since: { search: 2, number: 2 },
  columns: {
    number: NUMBER,
    status: 'status',
    method: 'method',
    account_id: 'account.id',
    collected_by_id: 'collected_by.id',
    occurred_at: 'occurred_at',
  },
  links: {
    invoice_id: {
      table: 'payment_allocations',
      maintained: async (tx, companyId, changed) => void (await refreshRecords(tx, invoices, companyId, await storeAllocations(tx, companyId, changed))),
    },
  },
  search: { table: 'payment_entries', of: ({ number }) => ({ texts: [number] }) },
  check: checkAllocations,
  leadsTo: allocationTo,
  afterChange: async (tx, companyId, changed) => void (await refreshRecords(tx, refunds, companyId, await refundsOf(tx, companyId, changed))),
  // For reporting's collections.
  publishes: { topic: topics.payments, type: 'payment.changed' },
});
