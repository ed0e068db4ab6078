import { readMessage, resource } from '@truckroll/contract';
import { AgingBucket, ListInvoicesResponse, type Invoice } from '@truckroll/contract/gen/billing/v1/invoices';
import { PaymentStatus } from '@truckroll/contract/gen/billing/v1/payments';
import { generateInvoices } from '@truckroll/demo-company';

const OPTIONS = { seed: 1, companies: 1, invoicesPerCompany: 1000, timezone: 'America/Chicago', until: '2026-06-30T18:00:00Z' };

export function pageBytes(size: number): Buffer {
  const [company] = generateInvoices(OPTIONS);
  const { record } = resource('invoices');
  const data: Invoice[] = [];
  for (const json of company?.files.find(({ path }) => path === 'invoices')?.records ?? []) {
    if (data.length === size) break;
    data.push(derived(readMessage<Invoice>(record, json).value));
  }
  return Buffer.from(ListInvoicesResponse.encode({ data, next: Buffer.alloc(0) }).finish());
}

function derived(invoice: Invoice): Invoice {
  const cents = invoice.amounts?.total_cents ?? 0;
  const application = { payment_id: invoice.id, applied_cents: cents, payment_status: PaymentStatus.PAID };
  return {
    ...invoice,
    amounts: { ...(invoice.amounts as NonNullable<Invoice['amounts']>), paid_cents: cents, processing_cents: 0, open_balance_cents: 0 },
    payment_applications: [application],
    aging: invoice.number.endsWith('3') ? { days_past_due: 12, bucket: AgingBucket.PAST_DUE_1_30 } : null,
  };
}
