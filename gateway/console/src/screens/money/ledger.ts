// Invoices and payments of a month as CSV, a line per line item, for the import of an accounting program (docs/how-to/console.md).
import { withoutFormula } from '@truckroll/contract/formula';
import type { Invoice, Payment } from '../../api/business.ts';
import { decimal } from '../../parts/money.ts';
import { dayOf } from '../../parts/time.tsx';
import { methodName } from '../../parts/words.ts';
import type { Range } from '../reports/calendar.ts';
import { invoicesOf, numbersOf, paymentsOf, reading } from './month.ts';

type Cell = string | number | null;

/** The amount of an ITEM has the pricing multiplier in it, and its unit price has not (InvoiceLineItem in docs/api.md). */
const INVOICES = ['invoice', 'customer', 'issued_on', 'due_on', 'kind', 'item', 'description', 'quantity', 'unit_price_before_multiplier', 'amount', 'taxable'];
const PAYMENTS = ['payment', 'customer', 'received_on', 'method', 'invoice', 'amount'];

/** A line per line item of the invoices of a month; `report` is called with the number of records read so far. Errors: Problem. */
export async function invoiceLines(range: Range, report: (read: number) => void, signal: AbortSignal): Promise<string> {
  return csv(INVOICES, (await invoicesOf(range, reading(report, signal))).flatMap(linesOf));
}

/** A line per invoice that a payment of the month pays. */
export async function paymentLines(range: Range, report: (read: number) => void, signal: AbortSignal): Promise<string> {
  const all = reading(report, signal);
  const payments = await paymentsOf(range, all);
  const numbers = await numbersOf(payments, all);
  return csv(
    PAYMENTS,
    payments.flatMap((payment) => paidBy(payment, numbers)),
  );
}

/** The line items, whose sum is the subtotal, and lines for discounts and tax, which make it the total. */
function linesOf({ number, account, issued_at, due_at, line_items: items, tax, amounts }: Invoice): Cell[][] {
  const line = (kind: string, ...rest: Cell[]): Cell[] => [number, account.name, issued_at && dayOf(issued_at), due_at && dayOf(due_at), kind, ...rest];
  const sum = (kind: string, name: string, cents: number): Cell[][] => (cents === 0 ? [] : [line(kind, name, '', 1, decimal(cents), decimal(cents), '')]);
  return [
    ...items.map((of) =>
      line('ITEM', of.name, of.description, of.quantity, decimal(of.unit_price_cents), decimal(of.subtotal_cents), of.taxable ? 'yes' : 'no'),
    ),
    ...sum('DISCOUNT', 'Discounts', -amounts.discount_cents),
    ...sum('TAX', tax.name, amounts.tax_cents),
  ];
}

/** A line for each invoice that the payment pays, and one for what it pays of none. */
function paidBy(payment: Payment, numbers: ReadonlyMap<string, string>): Cell[][] {
  const { id, number, account, occurred_at, method, invoice_allocations: of, amount_cents } = payment;
  const line = (invoice: string, cents: number): Cell[] => [number ?? id, account.name, dayOf(occurred_at), methodName(method), invoice, decimal(cents)];
  const rest = amount_cents - of.reduce((cents, { applied_cents: applied }) => cents + applied, 0);
  return [...of.map(({ invoice_id, applied_cents: applied }) => line(numbers.get(invoice_id) ?? invoice_id, applied)), ...(rest === 0 ? [] : [line('', rest)])];
}

function csv(columns: readonly string[], rows: readonly Cell[][]): string {
  return [columns, ...rows].map((row) => `${row.map(written).join(',')}\r\n`).join('');
}

/** Amounts may begin with a minus. */
const AMOUNT = /^-?\d+\.\d\d$/;

function written(cell: Cell): string {
  const text = String(cell ?? '');
  const safe = typeof cell === 'number' || AMOUNT.test(text) ? text : withoutFormula(text);
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
