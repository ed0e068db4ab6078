// Applications, paid, processing and open cents, stored with the invoice when it or a payment changes: reading a page needs no second query.
import { resource } from '@truckroll/contract';
import { InvoiceStatus, type Invoice, type PaymentApplication } from '@truckroll/contract/gen/billing/v1/invoices';
import type { PaymentStatus } from '@truckroll/contract/gen/billing/v1/payments';
import { binaryArrays, type Transaction } from '@truckroll/postgres';
import { heldCents, type Changed } from '@truckroll/record-store';
import { openBalance, settle } from './amounts.ts';

/** `derive` of invoices. Errors: RecordError if a sum of its payments is beyond the range of cents. */
export async function deriveInvoices(tx: Transaction, companyId: string, batch: readonly Changed<Invoice>[]): Promise<ReadonlyMap<string, Partial<Invoice>>> {
  const applications = await applicationsOf(
    tx,
    companyId,
    batch.map(({ id }) => id),
  );
  return new Map(batch.map(({ id, record }) => [id, derivedFields(record, applications.get(id) ?? [])]));
}

function derivedFields({ id, status, amounts }: Invoice, applications: PaymentApplication[]): Partial<Invoice> {
  if (amounts == null) throw new Error('an invoice has no amounts');
  const held = (name: string, cents: number | undefined): number => heldCents('invoices', id, `amounts.${name}`, cents);
  const sums = settle(applications);
  const paid_cents = held('paid_cents', sums.paid_cents);
  const processing_cents = held('processing_cents', sums.processing_cents);
  const open_balance_cents = held('open_balance_cents', openBalance(status === InvoiceStatus.OPEN, amounts.total_cents, paid_cents, processing_cents));
  return { amounts: { ...amounts, paid_cents, processing_cents, open_balance_cents }, payment_applications: applications };
}

const generated = resource('payments').record.byName.get('status')?.enum?.generated;

function statusOf(spelling: string | null): PaymentStatus | null {
  return spelling === null ? null : ((generated?.get(spelling) ?? null) as PaymentStatus | null);
}

async function applicationsOf(tx: Transaction, companyId: string, ids: readonly string[]): Promise<Map<string, PaymentApplication[]>> {
  const { rows } = await tx.query<{ invoice_id: string; payment_id: string; applied_cents: number; status: string | null }>({
    name: 'applications_of_invoices',
    // `offset 0` forces one index walk per invoice, whatever the planner estimates for tables that an import is filling.
    text: `select u.id as invoice_id, a.id as payment_id, a.applied_cents, p.status
      from unnest($2::uuid[]) u(id)
      cross join lateral (
        select a.id, a.created_at, a.applied_cents from payment_allocations a where a.company_id = $1 and a.value = u.id offset 0) a
      cross join lateral (select p.status from payments p where p.company_id = $1 and p.id = a.id offset 0) p
      order by u.id, a.created_at, a.id`,
    values: [companyId, binaryArrays.uuid(ids)],
  });
  const byInvoice = new Map<string, PaymentApplication[]>();
  for (const { invoice_id, payment_id, applied_cents, status } of rows) {
    const list = byInvoice.get(invoice_id) ?? [];
    list.push({ payment_id, applied_cents, payment_status: statusOf(status) });
    byInvoice.set(invoice_id, list);
  }
  return byInvoice;
}
