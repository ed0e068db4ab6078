// Payments are the only source of allocations (decisions §10); an invoice's applications are derived from them.
import type { JsonProblem } from '@truckroll/contract';
import type { Payment } from '@truckroll/contract/gen/billing/v1/payments';
import { binaryArrays, type Transaction } from '@truckroll/postgres';
import { handled } from '@truckroll/process';
import type { Changed } from '@truckroll/record-store';

/** An allocation is identified by (payment id, invoice_id), so a payment may name an invoice only once. */
export function checkAllocations(payment: Payment): JsonProblem[] {
  const seen = new Set<string>();
  return payment.invoice_allocations.flatMap(({ invoice_id }, index) => {
    const again = seen.has(invoice_id);
    seen.add(invoice_id);
    const message = 'Add up the amounts: a payment names each invoice once.';
    return again ? [{ field: `invoice_allocations[${index}].invoice_id`, code: 'RANGE_ORDER' as const, message }] : [];
  });
}

/** The field through which a payment counts toward an invoice. */
export function allocationTo({ invoice_allocations }: Payment, invoiceId: string): string | undefined {
  const index = invoice_allocations.findIndex(({ invoice_id }) => invoice_id === invoiceId);
  return index === -1 ? undefined : `invoice_allocations[${index}].applied_cents`;
}

/** Replaces the allocations of changed payments. Resolves to every invoice that they pay or used to pay. */
export async function storeAllocations(tx: Transaction, companyId: string, changed: readonly Changed<Payment>[]): Promise<Set<string>> {
  const ids = binaryArrays.uuid(changed.map(({ id }) => id));
  const dropping = handled(
    tx.query<{ value: string }>({
      name: 'drop_allocations',
      text: `delete from payment_allocations where company_id = $1 and id = any($2::uuid[]) returning value`,
      values: [companyId, ids],
    }),
  );
  const rows = changed.flatMap(({ id, record }) =>
    record.invoice_allocations.map(({ invoice_id, applied_cents }) => ({ id, invoice_id, applied_cents, created_at: record.created_at })),
  );
  const storing = tx.query({
    name: 'store_allocations',
    text: `insert into payment_allocations (company_id, value, created_at, id, applied_cents)
      select $1, * from unnest($2::uuid[], $3::timestamptz[], $4::uuid[], $5::bigint[])`,
    values: [
      companyId,
      binaryArrays.uuid(rows.map((row) => row.invoice_id)),
      binaryArrays.timestamptz(rows.map((row) => row.created_at)),
      binaryArrays.uuid(rows.map((row) => row.id)),
      binaryArrays.bigint(rows.map((row) => row.applied_cents)),
    ],
  });
  const [{ rows: before }] = await Promise.all([dropping, storing]);
  return new Set([...before.map(({ value }) => value), ...rows.map(({ invoice_id }) => invoice_id)]);
}
