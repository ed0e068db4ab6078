import { resource, topics } from '@truckroll/contract';
import type { Payment } from '@truckroll/contract/gen/billing/v1/payments';
import { defineTable } from '@truckroll/record-store';
import { allocationTo, checkAllocations, storeAllocations } from '../payments/allocations.ts';
import { refreshRefunds } from '../payments/refunds.ts';

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
  links: { invoice_id: { table: 'payment_allocations', maintained: storeAllocations } },
  check: checkAllocations,
  leadsTo: allocationTo,
  afterChange: refreshRefunds,
  publishes: { topic: topics.payments, type: 'payment.changed' },
});
