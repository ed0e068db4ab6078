import { topics } from '@truckroll/contract';
import type { Invoice } from '@truckroll/contract/gen/billing/v1/invoices';
import { recordReadModel, spelling } from './record-read-model.ts';

const statusOf = spelling('invoices', 'status');
const classOf = spelling('invoices', 'job_class');

export const invoices = recordReadModel<Invoice>({
  topic: topics.invoices,
  path: 'invoices',
  part: 'jobs',
  jobColumn: 'job_id',
  columns: {
    job_id: { type: 'uuid', of: ({ job_id }) => job_id ?? null },
    number: { type: 'text', of: ({ number }) => number },
    status: { type: 'text', of: ({ status }) => statusOf(status) },
    issued_at: { type: 'timestamptz', of: ({ issued_at }) => issued_at ?? null },
    created_at: { type: 'timestamptz', of: ({ created_at }) => created_at },
    account_id: { type: 'uuid', of: ({ account }) => account?.id ?? null },
    business_unit_id: { type: 'uuid', of: ({ business_unit }) => business_unit?.id ?? null },
    job_type_id: { type: 'uuid', of: ({ job_type }) => job_type?.id ?? null },
    job_class: { type: 'text', of: ({ job_class }) => classOf(job_class) },
    subtotal_cents: { type: 'bigint', of: ({ amounts }) => amounts?.subtotal_cents ?? 0 },
    discount_cents: { type: 'bigint', of: ({ amounts }) => amounts?.discount_cents ?? 0 },
    tax_cents: { type: 'bigint', of: ({ amounts }) => amounts?.tax_cents ?? 0 },
  },
});
