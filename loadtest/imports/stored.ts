// Cost of storing invoices and payments as documents, through the import, and as rows of normalised tables (docs/adr/0001).
import { say } from '@truckroll/local-stack';
import type pg from 'pg';
import { batches, createBaseline } from '../data/baseline.ts';
import { columnTypes, insertBatch } from '../data/baseline-insert.ts';
import { ROWS } from '../data/baseline-rows.ts';
import { evenCompanies, type BenchmarkCompany } from '../data/companies.ts';
import { copyRows } from '../data/copy.ts';
import { importFile } from '../data/import.ts';
import { rounded } from '../measure/report.ts';
import { costOf, costTable, type Cost } from '../measure/storage.ts';
import { drained } from '../system/outbox.ts';
import { postgresPid } from '../system/postgres.ts';
import { startServices } from '../system/programs.ts';
import type { Stack } from '../system/stack.ts';

/** The batch size of the import. */
const BATCH = 500;
const COPIED = 5000;
const PATHS = ['invoices', 'payments'] as const;
const BASELINE = ['invoices', 'line_items', 'discounts', 'payments', 'payment_applications'];
const DOCUMENTS = ['invoices', 'payments', 'payment_allocations'];

export async function stored(stack: Stack, client: pg.Client, database: string, invoices: number): Promise<Record<string, number>> {
  const [company] = evenCompanies({ database, companies: 1, invoicesEach: invoices, invoicesDeep: 0 });
  const costs = await measure(stack, client, company as BenchmarkCompany, invoices * PATHS.length);
  process.stdout.write(`\n${costTable(costs)}`);
  const [copied, inserted, imported] = costs as [Cost, Cost, Cost];
  const room = ({ tables, indexes }: Cost): number => tables + indexes;
  return {
    import_records_per_second: Math.round(imported.records / imported.seconds),
    import_postgres_cpu: rounded((imported.cpu['PostgreSQL'] as number) / (inserted.cpu['PostgreSQL'] as number)),
    import_log: rounded(imported.log / inserted.log),
    import_room: rounded(room(imported) / room(copied)),
  };
}

async function measure(stack: Stack, client: pg.Client, company: BenchmarkCompany, records: number): Promise<Cost[]> {
  const postgres = [await postgresPid(stack)];
  const baseline = { schema: 'baseline', tables: BASELINE, groups: { PostgreSQL: postgres } };
  say(`Storing ${records / PATHS.length} invoices and as many payments in three ways …`);
  await createBaseline(client);
  const copied = await costOf(client, { ...baseline, name: 'rows, by COPY', work: () => copy(client, company).then(() => records) });
  await createBaseline(client);
  const inserted = await costOf(client, { ...baseline, name: `rows, ${BATCH} records a transaction`, work: () => insert(client, company).then(() => records) });

  await client.query('drop schema if exists billing cascade');
  const services = await startServices(stack, ['billing']);
  const groups = { service: [services.running.billing.pid], PostgreSQL: postgres };
  const work = async (): Promise<number> => {
    await each(company, (path, file) => importFile(services.channels, company.id, { path, records: file }, () => undefined));
    // Publishing the import's events is part of its cost.
    await drained(client, 'billing');
    return records;
  };
  const imported = await costOf(client, { name: 'documents, by the import', schema: 'billing', tables: DOCUMENTS, groups, work });
  await services.stop('billing');
  return [copied, inserted, imported];
}

async function each(company: BenchmarkCompany, store: (path: string, records: BenchmarkCompany['files'][number]['records']) => Promise<void>): Promise<void> {
  for (const path of PATHS) {
    const file = company.files.find((candidate) => candidate.path === path);
    if (file !== undefined) await store(path, file.records);
  }
}

function copy(client: pg.Client, company: BenchmarkCompany): Promise<void> {
  return each(company, async (path, records) => {
    for (const batch of batches(records, COPIED)) {
      for (const { table, columns, rowsOf } of ROWS[path] ?? []) {
        await copyRows(
          client,
          `baseline.${table}`,
          ['company_id', ...columns],
          batch.flatMap((record) => rowsOf(record).map((row) => [company.id, ...row])),
        );
      }
    }
  });
}

async function insert(client: pg.Client, company: BenchmarkCompany): Promise<void> {
  const types = await columnTypes(client);
  return each(company, async (path, records) => {
    for (const batch of batches(records, BATCH)) await insertBatch(client, types, company.id, path, batch);
  });
}
