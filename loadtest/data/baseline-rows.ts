import type { DemoRecord } from '@truckroll/demo-company';
import type { Value } from './copy.ts';

export interface Rows {
  readonly table: string;
  readonly columns: readonly string[];
  /** Values without the company, which is the first column of every table. */
  readonly rowsOf: (record: any) => readonly (readonly Value[])[];
}

const named = (table: string): Rows[] => [{ table, columns: ['id', 'name'], rowsOf: ({ id, name }) => [[id, name]] }];

function fields(names: string): { columns: string[]; of: (record: DemoRecord) => Value[] } {
  const columns = names.split(' ');
  return { columns, of: (record) => columns.map((name) => record[name] as Value) };
}

const invoice = fields('id number status job_id location_id maintenance_plan_id job_class created_at updated_at issued_at due_at currency pricing_multiplier');
const lineItem = fields('id position name description quantity unit_price_cents subtotal_cents taxable discountable');
const discount = fields('id name type amount_cents rate');
const payment = fields('id number status method amount_cents currency occurred_at created_at updated_at');

const INVOICE_REST = [
  'account_id',
  'business_unit_id',
  'job_type_id',
  'created_by_id',
  'tax_name',
  'tax_rate',
  'tax_rounding',
  'subtotal_cents',
  'discount_cents',
  'tax_cents',
];

export const ROWS: Readonly<Record<string, readonly Rows[]>> = {
  accounts: named('accounts'),
  'business-units': named('business_units'),
  'job-types': named('job_types'),
  'team-members': named('team_members'),
  invoices: [
    {
      table: 'invoices',
      columns: [...invoice.columns, ...INVOICE_REST],
      rowsOf: (record) => {
        const { account, business_unit, job_type, created_by, tax, amounts } = record;
        const references = [account, business_unit, job_type, created_by].map((reference) => reference?.id);
        const { subtotal_cents, discount_cents, tax_cents } = amounts;
        return [[...invoice.of(record), ...references, tax.name, tax.rate, tax.rounding, subtotal_cents, discount_cents, tax_cents]];
      },
    },
    {
      table: 'line_items',
      columns: ['invoice_id', ...lineItem.columns],
      rowsOf: ({ id, line_items }) => line_items.map((line: DemoRecord) => [id, ...lineItem.of(line)]),
    },
    {
      table: 'discounts',
      columns: ['invoice_id', 'position', ...discount.columns],
      rowsOf: ({ id, discounts }) => discounts.map((line: DemoRecord, position: number) => [id, position, ...discount.of(line)]),
    },
  ],
  payments: [
    {
      table: 'payments',
      columns: ['account_id', 'collected_by_id', ...payment.columns],
      rowsOf: (record) => [[record.account.id, record.collected_by?.id, ...payment.of(record)]],
    },
    {
      table: 'payment_applications',
      columns: ['payment_id', 'invoice_id', 'applied_cents'],
      rowsOf: ({ id, invoice_allocations }) =>
        invoice_allocations.map((part: { invoice_id: string; applied_cents: number }) => [id, part.invoice_id, part.applied_cents]),
    },
  ],
};
