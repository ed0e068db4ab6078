import type { Payment } from '@truckroll/contract/gen/billing/v1/payments';
import { binaryArrays, type Transaction } from '@truckroll/postgres';
import type { Changed } from '@truckroll/record-store';

/** Ids of the refunds of these payments: they show the payment's account, method and collector (decisions §12), so they are refreshed with it. */
export async function refundsOf(tx: Transaction, companyId: string, changed: readonly Changed<Payment>[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>({
    name: 'refunds_of_payments',
    text: 'select r.id from unnest($2::uuid[]) u(id) join refunds r on r.company_id = $1 and r.payment_id = u.id',
    values: [companyId, binaryArrays.uuid(changed.map(({ id }) => id))],
  });
  return rows.map(({ id }) => id);
}
