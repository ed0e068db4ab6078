// The baseline of an import: unchecked COPY of the rows it left, from files on PostgreSQL's machine in stored order, into tables with the same
// columns and indexes. There are no triggers, derived fields or events.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

/** Tables that callers can read: the measured records and what is derived from them, without internal tables. */
const TABLES: readonly string[] = [
  ...['payments', 'payment_allocations', 'invoices'].map((name) => `billing.${name}`),
  ...['payments', 'invoices', 'job_financials', 'job_facts'].map((name) => `reporting.${name}`),
  ...['invoice', 'collection', 'job', 'participation'].flatMap((sums) => [`reporting.${sums}_sums`, `reporting.${sums}_crosses`]),
];
const copyOf = (table: string): string => `copied.${table.replace('.', '_')}`;

/** Resolves to the seconds that COPY takes for the rows of these companies, with one connection for each. */
export async function copySameRows(url: string, companies: readonly string[]): Promise<number> {
  const clients = companies.map(() => new pg.Client({ connectionString: url }));
  await Promise.all(clients.map((client) => client.connect()));
  const [client] = clients as [pg.Client];
  const { rows } = await client.query<{ folder: string }>(`select current_setting('data_directory') as folder`);
  const fileOf = (company: string, table: string): string => join(rows[0]?.folder ?? '', `imports-${company}-${table}.txt`);
  const copyOne = async (each: pg.Client, company: string): Promise<void> => {
    for (const table of TABLES) await each.query(`copy ${copyOf(table)} from '${fileOf(company, table)}'`);
  };
  try {
    await client.query('drop schema if exists copied cascade; create schema copied');
    for (const table of TABLES) {
      await client.query(`create table ${copyOf(table)} (like ${table} including all)`);
      for (const company of companies) await client.query(`copy (select * from ${table} where company_id = '${company}') to '${fileOf(company, table)}'`);
    }
    await client.query('checkpoint');
    const startedAt = performance.now();
    await Promise.all(companies.map((company, i) => copyOne(clients[i] as pg.Client, company)));
    return (performance.now() - startedAt) / 1000;
  } finally {
    for (const company of companies) for (const table of TABLES) rmSync(fileOf(company, table), { force: true });
    await client.query('drop schema if exists copied cascade');
    await Promise.all(clients.map((each) => each.end()));
  }
}
