// What an invoice shows of its payments: applications, paid, processing and open cents. Stored with the invoice, in
// the transaction that changes the invoice or a payment, so that a page needs no second look.
import { encodeFragment, resource } from '@truckroll/contract';
import { Invoice, InvoiceStatus, type PaymentApplication } from '@truckroll/contract/gen/billing/v1/invoices';
import type { PaymentStatus } from '@truckroll/contract/gen/billing/v1/payments';
import type { Changed } from '@truckroll/record-store';
import type { Transaction } from '@truckroll/service-kit';
import { openBalance, settle } from './amounts.ts';

const generated = resource('payments').record.byName.get('status')?.enum?.generated;

/** Columns hold public spellings; messages hold generated ones. */
function statusOf(spelling: string | null): PaymentStatus | null {
  return spelling === null ? null : ((generated?.get(spelling) ?? null) as PaymentStatus | null);
}

/** What of an invoice its derived fields depend on. */
interface Recorded {
  id: string;
  open: boolean;
  subtotal_cents: number;
  discount_cents: number;
  tax_cents: number;
}

/** For invoices about to be stored. */
export async function deriveInvoices(
  tx: Transaction,
  companyId: string,
  batch: readonly Changed<Invoice>[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const applications = await applicationsOf(tx, companyId, batch.map(({ id }) => id));
  return new Map(
    batch.map(({ id, record: { status, amounts } }) => {
      const { subtotal_cents = 0, discount_cents = 0, tax_cents = 0 } = amounts ?? {};
      const recorded = { id, open: status === InvoiceStatus.OPEN, subtotal_cents, discount_cents, tax_cents };
      return [id, encodeDerived(recorded, applications.get(id) ?? [])];
    }),
  );
}

/** For stored invoices whose payments have changed. Ids of invoices that are not here yet are passed over. */
export async function refreshInvoices(tx: Transaction, companyId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const { rows } = await tx.query<Recorded>({
    name: 'invoices_to_refresh',
    text: `select id, status = 'OPEN' as open, subtotal_cents, discount_cents, tax_cents
      from invoices where company_id = $1 and id = any($2::uuid[]) order by id for update`,
    values: [companyId, ids],
  });
  const applications = await applicationsOf(tx, companyId, rows.map(({ id }) => id));
  await tx.query({
    name: 'refresh_invoices',
    text: `update invoices i set derived = d.derived from unnest($2::uuid[], $3::bytea[]) d(id, derived)
      where i.company_id = $1 and i.id = d.id`,
    values: [companyId, rows.map(({ id }) => id), rows.map((row) => Buffer.from(encodeDerived(row, applications.get(row.id) ?? [])))],
  });
}

function encodeDerived(recorded: Recorded, applications: PaymentApplication[]): Uint8Array {
  const { subtotal_cents, discount_cents, tax_cents, open } = recorded;
  const discounted_subtotal_cents = subtotal_cents - discount_cents;
  const total_cents = discounted_subtotal_cents + tax_cents;
  const { paid_cents, processing_cents } = settle(applications);
  const open_balance_cents = openBalance(open, total_cents, paid_cents, processing_cents);
  return encodeFragment(Invoice, {
    amounts: {
      subtotal_cents,
      discount_cents,
      discounted_subtotal_cents,
      tax_cents,
      total_cents,
      paid_cents,
      processing_cents,
      open_balance_cents,
    },
    payment_applications: applications,
  });
}

/** Applications by invoice, in the order of their payments. */
async function applicationsOf(tx: Transaction, companyId: string, ids: readonly string[]): Promise<Map<string, PaymentApplication[]>> {
  const { rows } = await tx.query<{ invoice_id: string; payment_id: string; applied_cents: number; status: string | null }>({
    name: 'applications_of_invoices',
    text: `select a.value as invoice_id, a.id as payment_id, a.applied_cents, p.status
      from payment_allocations a join payments p on p.company_id = a.company_id and p.id = a.id
      where a.company_id = $1 and a.value = any($2::uuid[]) order by a.value, a.created_at, a.id`,
    values: [companyId, ids],
  });
  const byInvoice = new Map<string, PaymentApplication[]>();
  for (const { invoice_id, payment_id, applied_cents, status } of rows) {
    const list = byInvoice.get(invoice_id) ?? [];
    list.push({ payment_id, applied_cents, payment_status: statusOf(status) });
    byInvoice.set(invoice_id, list);
  }
  return byInvoice;
}
