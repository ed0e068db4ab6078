// Recreates the baseline's schema and fills it with a company's records.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import type { BenchmarkCompany } from './companies.ts';
import { batches } from './import.ts';

const SCHEMA = join(import.meta.dirname, '../baseline/schema.sql');
const BATCH = 5000;

interface Named {
  readonly id: string;
  readonly name: string;
}

/** The fields of generated records that the baseline stores in columns of another name, or in another table. */
interface Generated extends Named {
  readonly account: Named;
  readonly business_unit: Named | null;
  readonly job_type: Named | null;
  readonly created_by: Named | null;
  readonly collected_by: Named | null;
  readonly tax: { readonly name: string; readonly rate: number; readonly rounding: string };
  readonly amounts: { readonly subtotal_cents: number; readonly discount_cents: number; readonly tax_cents: number };
  readonly line_items: readonly object[];
  readonly discounts: readonly object[];
  readonly invoice_allocations: readonly { readonly invoice_id: string; readonly applied_cents: number }[];
}

type Rows = Readonly<Record<string, readonly object[]>>;

const INVOICE = 'id number status job_id location_id maintenance_plan_id job_class created_at updated_at issued_at due_at currency pricing_multiplier'.split(
  ' ',
);
const PAYMENT = 'id number status method amount_cents currency occurred_at created_at updated_at'.split(' ');
const LINE_ITEM = 'id position name description quantity unit_price_cents subtotal_cents taxable discountable'.split(' ');
const DISCOUNT = 'id name type amount_cents rate'.split(' ');

const only = (record: object, names: readonly string[]): object => Object.fromEntries(names.map((name) => [name, (record as Record<string, unknown>)[name]]));
const named = ({ id, name }: Named): object[] => [{ id, name }];

/** Rows by table for one record, by the record's path. */
const ROWS: Readonly<Record<string, (record: Generated) => Rows>> = {
  accounts: (record) => ({ accounts: named(record) }),
  'business-units': (record) => ({ business_units: named(record) }),
  'job-types': (record) => ({ job_types: named(record) }),
  'team-members': (record) => ({ team_members: named(record) }),
  invoices: ({ account, business_unit, job_type, created_by, tax, amounts, line_items, discounts, ...record }) => {
    const references = { account_id: account.id, business_unit_id: business_unit?.id, job_type_id: job_type?.id, created_by_id: created_by?.id };
    const { subtotal_cents, discount_cents, tax_cents } = amounts;
    const recorded = { tax_name: tax.name, tax_rate: tax.rate, tax_rounding: tax.rounding, subtotal_cents, discount_cents, tax_cents };
    return {
      invoices: [{ ...only(record, INVOICE), ...references, ...recorded }],
      line_items: line_items.map((line) => ({ invoice_id: record.id, ...only(line, LINE_ITEM) })),
      discounts: discounts.map((line, position) => ({ invoice_id: record.id, position, ...only(line, DISCOUNT) })),
    };
  },
  payments: ({ account, collected_by, invoice_allocations, ...record }) => ({
    payments: [{ ...only(record, PAYMENT), account_id: account.id, collected_by_id: collected_by?.id }],
    payment_applications: invoice_allocations.map(({ invoice_id, applied_cents }) => ({ payment_id: record.id, invoice_id, applied_cents })),
  }),
};

export async function createBaseline(client: pg.ClientBase): Promise<void> {
  await client.query(`begin; drop schema if exists baseline cascade; ${readFileSync(SCHEMA, 'utf8')}; commit`);
}

export async function loadBaseline(client: pg.ClientBase, company: BenchmarkCompany): Promise<void> {
  await client.query('insert into baseline.companies values ($1, $2)', [company.id, company.timezone]);
  for (const { path, records } of company.files) {
    const rowsOf = ROWS[path];
    if (rowsOf === undefined) continue;
    for (const batch of batches(records, BATCH)) {
      const all = batch.flatMap((record) => Object.entries(rowsOf(record as unknown as Generated)));
      for (const [table, of] of Map.groupBy(all, ([name]) => name)) {
        const rows = of.flatMap(([, some]) => some);
        await insertRecords(client, `baseline.${table}`, company.id, rows);
      }
    }
  }
}

/** Inserts a company's records, whose keys are columns of the table. The first record has every key; other columns get their defaults. */
export async function insertRecords(client: pg.ClientBase, table: string, company_id: string, records: readonly object[]): Promise<void> {
  if (records.length === 0) return;
  const columns = Object.keys({ company_id, ...records[0] }).join(', ');
  const rows = JSON.stringify(records.map((record) => ({ company_id, ...record })));
  await client.query(`insert into ${table} (${columns}) select ${columns} from json_populate_recordset(null::${table}, $1)`, [rows]);
}
