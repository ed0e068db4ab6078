// Creates the data of both sides once: rows in the read models of reporting, the same rows in plain tables with plain indexes, and sums.
import { keepingSettings, schema } from '@truckroll/reporting/schema';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Problem, say } from '@truckroll/local-stack';
import { migrate } from '@truckroll/postgres';
import type pg from 'pg';
import { KeyFile, Operator } from '../system/operator.ts';
import { withClient } from '../system/postgres.ts';
import { startServices } from '../system/programs.ts';
import type { Stack } from '../system/stack.ts';
import { measuredCompany, type ReportSet } from './company.ts';
import { createRaw } from './raw.ts';
import { makeSums } from './sums.ts';

/** Increase when the stored data changes: older data is then refused. */
const VERSION = 2;
const ROWS = readFileSync(join(import.meta.dirname, 'rows.sql'), 'utf8');
/** Same as the event that integrations publishes, so that reporting does not refresh anything. */
const COMPANY = 'insert into companies (company_id, projection, time_zone, costing_enabled, verified_only) values ($1, 1, $2, true, false)';

/** Connects with reporting's settings, so that triggers accept the writes as those of this release. */
export function asReporting<T>(stack: Stack, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const options = Object.entries({ ...keepingSettings, search_path: 'reporting' }).map(([name, value]) => `-c ${name}=${value}`);
  return withClient(stack, work, options.join(' '));
}

export function keysOf(stack: Stack): KeyFile {
  return new KeyFile(join(stack.folder, 'keys.json'));
}

/** Does nothing if the database already holds the data; restarts an interrupted preparation. */
export async function prepareReports(stack: Stack, set: ReportSet): Promise<void> {
  // Existing data is migrated, so that the current tables are measured.
  const upgrade = () => migrate({ url: stack.databaseUrl, schema: schema.schema, sets: schema.migrations });
  await asReporting(stack, async (client) => {
    if (await isPrepared(client, stack.folder)) return void (await upgrade());
    say(`Making the data, once: ${set.invoices} invoices and payments, ${set.jobs} jobs …`);
    keysOf(stack).forget();
    await client.query('drop schema if exists integrations, billing, scheduling, reporting, raw cascade');
    await upgrade();
    const company = measuredCompany(set);
    const values: Record<string, string | number> = { ...set, company: `'${company.id}'::uuid` };
    await client.query(ROWS.replace(/(?<!:):(\w+)/g, (text, name: string) => String(values[name] ?? text)));
    say('Making the plain tables, and sums …');
    await createRaw(client);
    await makeSums(client, company.id);
    await client.query(COMPANY, [company.id, company.timezone]);
    const services = await startServices(stack, ['integrations']);
    await new Operator(services.running.integrations.port).createCompany(company);
    await services.stop('integrations');
    await client.query('vacuum (analyze)');
    await client.query('checkpoint');
    await client.query('create table raw.prepared as select $1::int as version', [VERSION]);
  });
}

async function isPrepared(client: pg.Client, folder: string): Promise<boolean> {
  const { rows: known } = await client.query<{ there: boolean }>(`select to_regclass('raw.prepared') is not null as there`);
  if (known[0]?.there !== true) return false;
  const { rows } = await client.query<{ version: number }>('select version from raw.prepared');
  // Kafka keeps reporting's offsets: with a new database, reporting would wait for events that it has already consumed.
  if (rows[0]?.version !== VERSION) throw new Problem(`The data is of an earlier benchmark: remove ${folder} and run again.`);
  return true;
}

/** Resolves when the company's sums exist. Throws Problem if another process writes to the database. */
export async function built(client: pg.Client, companyId: string): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ state: string }>('select state from reporting.generations where company_id = $1', [companyId]);
    if (rows.some(({ state }) => state === 'current')) return;
    if (rows.filter(({ state }) => state !== 'retired').length > 1)
      throw new Problem('Sums were spoiled while they were built: something else writes to this database.');
    await delay(100);
  }
}
