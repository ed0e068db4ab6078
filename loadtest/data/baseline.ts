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
  readonly amounts: object;
  readonly line_items: readonly object[];
  readonly discounts: readonly object[];
  readonly invoice_allocations: readonly { readonly invoice_id: string; readonly applied_cents: number }[];
}

type Rows = Readonly<Record<string, readonly object[]>>;

/** Rows by table for one record, by the record's path. */
const ROWS: Readonly<Record<string, (record: Generated) => Rows>> = {
  accounts: (record) => ({ accounts: [record] }),
  'business-units': (record) => ({ business_units: [record] }),
  'job-types': (record) => ({ job_types: [record] }),
  'team-members': (record) => ({ team_members: [record] }),
  invoices: ({ id, account, business_unit, job_type, created_by, tax, amounts, line_items, discounts, ...record }) => {
    const references = { account_id: account.id, business_unit_id: business_unit?.id, job_type_id: job_type?.id, created_by_id: created_by?.id };
    const recorded = { tax_name: tax.name, tax_rate: tax.rate, tax_rounding: tax.rounding, ...amounts };
    return {
      invoices: [{ id, ...record, ...references, ...recorded }],
      line_items: line_items.map((line) => ({ invoice_id: id, ...line })),
      discounts: discounts.map((line, position) => ({ invoice_id: id, position, ...line })),
    };
  },
  payments: ({ account, collected_by, invoice_allocations, ...record }) => ({
    payments: [{ ...record, account_id: account.id, collected_by_id: collected_by?.id }],
    payment_applications: invoice_allocations.map((allocation) => ({ payment_id: record.id, ...allocation })),
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

/** Inserts a company's records by the names of the columns; other fields are ignored. */
export async function insertRecords(client: pg.ClientBase, table: string, company_id: string, records: readonly object[]): Promise<void> {
  const rows = JSON.stringify(records.map((record) => ({ company_id, ...record })));
  await client.query(`insert into ${table} select * from json_populate_recordset(null::${table}, $1)`, [rows]);
}
