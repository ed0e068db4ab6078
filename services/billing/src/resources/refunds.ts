import { resource, topics } from '@truckroll/contract';
import type { Refund } from '@truckroll/contract/gen/billing/v1/refunds';
import { defineTable } from '@truckroll/record-store';
import { deriveRefunds } from '../refunds.ts';

export const refunds = defineTable<Refund>({
  resource: resource('refunds'),
  table: 'refunds',
  version: 2,
  columns: {
    status: 'status',
    payment_id: 'payment_id',
    account_id: 'account.id',
    payment_method: 'payment_method',
    occurred_at: 'occurred_at',
  },
  derivedFields: ['collected_by'],
  derive: deriveRefunds,
  // For reporting's collections.
  publishes: { topic: topics.refunds, type: 'refund.changed' },
});
