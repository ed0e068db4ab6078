import { topics } from '@truckroll/contract';
import type { Payment } from '@truckroll/contract/gen/billing/v1/payments';
import { recordReadModel, spelling } from './record-read-model.ts';

const statusOf = spelling('payments', 'status');
const methodOf = spelling('payments', 'method');

export const payments = recordReadModel<Payment>({
  topic: topics.payments,
  path: 'payments',
  part: 'movements',
  columns: {
    status: { type: 'text', of: ({ status }) => statusOf(status) },
    method: { type: 'text', of: ({ method }) => methodOf(method) },
    account_id: { type: 'uuid', of: ({ account }) => account?.id ?? null },
    collected_by_id: { type: 'uuid', of: ({ collected_by }) => collected_by?.id ?? null },
    amount_cents: { type: 'bigint', of: ({ amount_cents }) => amount_cents },
    occurred_at: { type: 'timestamptz', of: ({ occurred_at }) => occurred_at },
  },
});
