import { resource, topics } from '@truckroll/contract';
import type { Refund } from '@truckroll/contract/gen/billing/v1/refunds';
import { defineTable } from '@truckroll/record-store';
import { deriveRefunds } from '../refunds.ts';

export const refunds = defineTable<Refund>({
  resource: resource('refunds'),
  table: 'refunds',
  version: 3,
  since: { collected_by_id: 3 },
  columns: {
    status: 'status',
    payment_id: 'payment_id',
    account_id: 'account.id',
    payment_method: 'payment_method',
    collected_by_id: 'collected_by.id',
    occurred_at: 'occurred_at',
  },
  derivedFields: ['collected_by'],
  derive: deriveRefunds,
  // For reporting's collections.
  publishes: { topic: topics.refunds, type: 'refund.changed' },
});
