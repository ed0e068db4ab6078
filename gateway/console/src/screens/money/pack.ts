// The month-end pack: what an accountant takes into the books, each sheet compared with the report that it belongs to.
import type { components } from '@truckroll/client';
import type { Invoice } from '../../api/business.ts';
import { readReport, type ReportRow } from '../../api/reports.ts';
import { dollars } from '../../parts/money.ts';
import { dayOf, zone } from '../../parts/time.tsx';
import { methodName, rate, titleCase } from '../../parts/words.ts';
import { session } from '../../state/session.ts';
import type { Sheet, SheetColumn } from '../../xlsx/sheet.ts';
import { rangeName, type Range } from '../reports/calendar.ts';
import { AGES, type Age } from '../reports/definitions.ts';
import { clockOf } from '../reports/sheets.ts';
import { invoicesOf, numbersOf, paymentsOf, reading } from './month.ts';

type Refund = components['schemas']['Refund'];
type Cell = string | number | null;

/** A sum of a sheet, and the report's figure, in cents. They may differ only if something was corrected between the two readings. */
export interface Check {
  readonly sheet: string;
  readonly of: string;
  readonly sum: number;
  readonly reported: number;
}

export interface Pack {
  readonly sheets: readonly Sheet[];
  readonly checks: readonly Check[];
}

const text = (title: string): SheetColumn => ({ title, kind: 'text' });
const date = (title: string): SheetColumn => ({ title, kind: 'date' });
const money = (title: string): SheetColumn => ({ title, kind: 'money' });

/** The whole pack; `report` is called with the number of records read so far. Errors: Problem. */
export async function readPack(range: Range, report: (read: number) => void, signal: AbortSignal): Promise<Pack> {
  const all = reading(report, signal);
  const dates = { start_date: range.start, end_date: range.end, bucket: 'year' };
  const open = (await all<Invoice>('invoices', { status: 'OPEN' })).filter(({ amounts }) => amounts.open_balance_cents !== 0);
  const issued = await invoicesOf(range, all);
  const payments = await paymentsOf(range, all);
  const refunds = await all<Refund>('refunds', { status: 'SUCCEEDED', occurred_from: range.start, occurred_before: range.end });
  const numbers = await numbersOf(payments, all);
  const [owed, invoiced, collected, byUnit, byType] = await Promise.all([
    readReport('receivables', {}),
    readReport('invoice-activity', dates),
    readReport('collections', dates),
    readReport('invoice-activity', { ...dates, group_by: 'business_unit' }),
    readReport('invoice-activity', { ...dates, group_by: 'job_type' }),
  ]);
  const reported = { owed: owed.rows.filter(({ bucket }) => bucket === 'TOTAL'), invoiced: invoiced.rows, collected: collected.rows };

  const checks: Check[] = [];
  const sheet = (
    name: string,
    columns: readonly SheetColumn[],
    rows: readonly Cell[][],
    against: readonly (readonly [title: string, figure: number])[],
    span: readonly [title: string, text: string] = ['Range', `${rangeName(range)} (${zone()})`],
  ): Sheet => {
    const sums = columns.map(({ kind }, at) => (kind === 'money' ? rows.reduce((sum, row) => sum + (row[at] as number), 0) : null));
    const own = against.map(([of, figure]): Check => ({ sheet: name, of, sum: sums[columns.findIndex(({ title }) => title === of)]!, reported: figure }));
    checks.push(...own);
    return {
      name,
      facts: [['Company', session.value.me?.company.name ?? ''], ['Sheet', name], span, ...own.map((check) => ['Check', inWords(check)] as const)],
      columns,
      rows,
      total: ['Sum', ...sums.slice(1)],
    };
  };
  const sheets = [
    sheet(
      'Open invoices now',
      [text('Invoice'), text('Customer'), date('Due'), text('Age'), money('Open')],
      open.map(({ number, account, due_at, aging, amounts }) => [
        number,
        account.name,
        due_at && dayOf(due_at),
        AGES[aging?.bucket as Age] ?? null,
        amounts.open_balance_cents,
      ]),
      [['Open', total(reported.owed, 'open_balance_cents')]],
      ['As of', `${clockOf(owed.asOf)} (${zone()})`],
    ),
    sheet(
      'Invoices',
      [
        text('Invoice'),
        text('Customer'),
        text('Status'),
        date('Issued'),
        date('Due'),
        money('Net sales'),
        money('Tax'),
        money('Billed'),
        money('Paid'),
        money('Open'),
      ],
      issued.map(({ number, account, status, issued_at, due_at, amounts: of }) => [
        number,
        account.name,
        titleCase(status),
        issued_at && dayOf(issued_at),
        due_at && dayOf(due_at),
        of.discounted_subtotal_cents,
        of.tax_cents,
        of.total_cents,
        of.paid_cents,
        of.open_balance_cents,
      ]),
      [
        ['Net sales', total(reported.invoiced, 'discounted_subtotal_cents')],
        ['Billed', total(reported.invoiced, 'total_cents')],
      ],
    ),
    sheet(
      'Payments',
      [text('Payment'), date('Received'), text('Customer'), text('Method'), text('Collected by'), text('Invoices'), money('Amount')],
      payments.map(({ number, id, occurred_at, account, method, collected_by, invoice_allocations: of, amount_cents }) => [
        number ?? id,
        dayOf(occurred_at),
        account.name,
        methodName(method),
        collected_by?.name ?? null,
        of.map(({ invoice_id }) => numbers.get(invoice_id) ?? invoice_id).join(', '),
        amount_cents,
      ]),
      [['Amount', total(reported.collected, 'received_cents')]],
    ),
    sheet(
      'Refunds',
      [text('Refund'), date('Paid out'), text('Customer'), text('Method'), money('Amount')],
      refunds.map(({ id, occurred_at, account, payment_method, amount_cents }) => [
        id,
        dayOf(occurred_at),
        account.name,
        methodName(payment_method),
        amount_cents,
      ]),
      [['Amount', total(reported.collected, 'refunded_cents')]],
    ),
    sheet(
      'Tax by rate',
      [text('Tax'), text('Rate'), money('Net sales'), money('Tax amount')],
      [...Map.groupBy(issued, ({ tax }) => JSON.stringify([tax.name, rate(tax.rate)]))].map(([key, of]) => [
        ...(JSON.parse(key) as [string, string]),
        of.reduce((sum, { amounts }) => sum + amounts.discounted_subtotal_cents, 0),
        of.reduce((sum, { amounts }) => sum + amounts.tax_cents, 0),
      ]),
      [['Tax amount', total(reported.invoiced, 'tax_cents')]],
    ),
    ...(
      [
        ['Sales by business unit', 'No business unit', byUnit.rows],
        ['Sales by job type', 'No job type', byType.rows],
      ] as const
    ).map(([name, none, rows]) =>
      sheet(
        name,
        [text(name.slice('Sales by '.length)), money('Net sales'), money('Billed')],
        rows.map((row) => [row.group?.label ?? none, row['discounted_subtotal_cents'] as number, row['total_cents'] as number]),
        [['Net sales', total(reported.invoiced, 'discounted_subtotal_cents')]],
      ),
    ),
  ];
  return { sheets, checks };
}

const total = (rows: readonly ReportRow[], measure: string): number => rows.reduce((sum, row) => sum + (row[measure] as number), 0);

/** What a check found, for the sheet and the screen. */
export function inWords({ of, sum, reported }: Check): string {
  return sum === reported
    ? `${of}: ${dollars(sum)}, as the report says`
    : `${of}: ${dollars(sum)}, but the report says ${dollars(reported)}. Something was corrected while the pack was made: make it again.`;
}
