import { resource, topics } from '@truckroll/contract';
import type { Payment } from '@truckroll/contract/gen/billing/v1/payments';
import { defineTable, refreshRecords } from '@truckroll/record-store';
import { allocationTo, checkAllocations, storeAllocations } from '../payments/allocations.ts';
import { refundsOf } from '../payments/refunds.ts';
import { invoices } from './invoices.ts';
import { refunds } from './refunds.ts';

export const payments = defineTable<Payment>({
  resource: resource('payments'),
  table: 'payments',
  columns: {
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
  check: checkAllocations,
  leadsTo: allocationTo,
  afterChange: async (tx, companyId, changed) => void (await refreshRecords(tx, refunds, companyId, await refundsOf(tx, companyId, changed))),
  // For reporting's collections.
  publishes: { topic: topics.payments, type: 'payment.changed' },
});
