import { codec } from '@truckroll/contract';
import type { Invoice } from '@truckroll/contract/gen/billing/v1/invoices';
import { randomUUID } from 'node:crypto';

export function invoice(overrides: Partial<Invoice> = {}): Invoice {
  const empty = codec('truckroll.billing.v1.Invoice').decode(new Uint8Array()) as Invoice;
  return { ...empty, id: randomUUID(), number: 'INV-1', status: 'INVOICE_STATUS_OPEN', currency: 'USD', ...overrides };
}
