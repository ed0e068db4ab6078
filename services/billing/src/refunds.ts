// A refund takes account, method and collector from its payment (decisions §12), and from its own line until the payment arrives.
import { Payment } from '@truckroll/contract/gen/billing/v1/payments';
import type { Refund } from '@truckroll/contract/gen/billing/v1/refunds';
import { uuidOf, type Transaction } from '@truckroll/postgres';
import type { Changed } from '@truckroll/record-store';

/** The three fields of each refund of the batch, by id. Reads payments as the transaction sees them. */
export async function deriveRefunds(tx: Transaction, companyId: string, batch: readonly Changed<Refund>[]): Promise<ReadonlyMap<string, Partial<Refund>>> {
  const rows = await tx.queryBinary({
    name: 'payments_of_refunds',
    text: 'select p.id, p.document from unnest($2::uuid[]) u(id) join payments p on p.company_id = $1 and p.id = u.id',
    values: [companyId, [...new Set(batch.map(({ record }) => record.payment_id))]],
  });
  const payments = new Map(rows.map(([id, document]) => [uuidOf(id as Buffer), Payment.decode(document as Buffer)]));
  return new Map(
    batch.map(({ id, record }) => {
      const payment = payments.get(record.payment_id);
      const { account, collected_by } = payment ?? record;
      return [id, { account, payment_method: payment?.method ?? record.payment_method, collected_by: collected_by ?? null }];
    }),
  );
}
