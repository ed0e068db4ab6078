// What billing tells the other services.
import { topics } from '@truckroll/contract';
import type { Invoice } from '@truckroll/contract/gen/billing/v1/invoices';
import { publishing } from '@truckroll/record-store';

/** Reporting counts what was invoiced from its own copy of every invoice. */
export const publishInvoices = publishing<Invoice>(topics.invoices, 'invoice.changed');
