// The baseline of an import: unchecked COPY of the rows it left, from files on PostgreSQL's machine in stored order, into tables with the same
// columns and indexes. There are no triggers, derived fields or events.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

/** Tables that callers can read: the measured records and what is derived from them, without internal tables. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  billing: ['payments', 'payment_allocations', 'invoices'],
  reporting: [
    ...['payments', 'invoices', 'job_financials', 'job_facts'],
    ...['invoice', 'collection', 'job', 'participation'].flatMap((sums) => [`${sums}_summaries`, `${sums}_combinations`]),
  ],
};

interface File {
  readonly table: string;
  readonly path: string;
}

/** Resolves to the seconds that COPY takes for the rows of these companies, with one connection for each. */
export async function copySameRows(url: string, companies: readonly string[]): Promise<number> {
  const clients = companies.map(() => new pg.Client({ connectionString: url }));
  await Promise.all(clients.map((client) => client.connect()));
  const [client] = clients as [pg.Client];
  const { rows } = await client.query<{ folder: string }>(`select current_setting('data_directory') as folder`);
  const folder = rows[0]?.folder ?? '';
  const written: File[][] = [];
  try {
    await client.query('drop schema if exists copied cascade; create schema copied');
    for (const [schema, tables] of Object.entries(TABLES)) {
      for (const table of tables) await client.query(`create table copied.${schema}_${table} (like ${schema}.${table} including all)`);
    }
    for (const company of companies) written.push(await write(client, folder, company));
    await client.query('checkpoint');
    const startedAt = performance.now();
    await Promise.all(
      clients.map(async (each, i) => {
        for (const { table, path } of written[i]!) await each.query(`copy copied.${table} from '${path}'`);
      }),
    );
    return (performance.now() - startedAt) / 1000;
  } finally {
    for (const { path } of written.flat()) rmSync(path, { force: true });
    await client.query('drop schema if exists copied cascade');
    await Promise.all(clients.map((each) => each.end()));
  }
}

async function write(client: pg.Client, folder: string, company: string): Promise<File[]> {
  const files: File[] = [];
  for (const [schema, tables] of Object.entries(TABLES)) {
    for (const name of tables) {
      const table = `${schema}_${name}`;
      const path = join(folder, `imports-${company}-${table}.txt`);
      await client.query(`copy (select * from ${schema}.${name} where company_id = '${company}') to '${path}'`);
      files.push({ table, path });
    }
  }
  return files;
}
