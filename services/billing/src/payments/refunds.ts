import type { Payment } from '@truckroll/contract/gen/billing/v1/payments';
import { binaryArrays, type Transaction } from '@truckroll/postgres';
import { refreshRecords, type Changed } from '@truckroll/record-store';
import { refunds } from '../resources/refunds.ts';

export async function refreshRefunds(tx: Transaction, companyId: string, changed: readonly Changed<Payment>[]): Promise<void> {
  const { rows } = await tx.query<{ id: string }>({
    name: 'refunds_of_payments',
    text: 'select r.id from unnest($2::uuid[]) u(id) join refunds r on r.company_id = $1 and r.payment_id = u.id',
    values: [companyId, binaryArrays.uuid(changed.map(({ id }) => id))],
  });
  await refreshRecords(
    tx,
    refunds,
    companyId,
    rows.map(({ id }) => id),
  );
}
