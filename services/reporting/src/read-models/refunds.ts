import { topics } from '@truckroll/contract';
import type { Refund } from '@truckroll/contract/gen/billing/v1/refunds';
import { recordReadModel, spelling } from './record-read-model.ts';

const statusOf = spelling('refunds', 'status');
const methodOf = spelling('refunds', 'payment_method');

export const refunds = recordReadModel<Refund>({
  topic: topics.refunds,
  path: 'refunds',
  part: 'movements',
  columns: {
    status: { type: 'text', of: ({ status }) => statusOf(status) },
    payment_method: { type: 'text', of: ({ payment_method }) => methodOf(payment_method) },
    account_id: { type: 'uuid', of: ({ account }) => account?.id ?? null },
    collected_by_id: { type: 'uuid', of: ({ collected_by }) => collected_by?.id ?? null },
    amount_cents: { type: 'bigint', of: ({ amount_cents }) => amount_cents },
    occurred_at: { type: 'timestamptz', of: ({ occurred_at }) => occurred_at },
  },
});
