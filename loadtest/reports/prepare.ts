// Creates the data of both sides once: rows in the read models of reporting, the same rows in plain tables with plain indexes, and sums.
import { keepingSettings, schema } from '@truckroll/reporting/schema';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Problem, say } from '@truckroll/local-stack';
import { migrate } from '@truckroll/postgres';
import type pg from 'pg';
import { once, withClient } from '../system/postgres.ts';
import { startServices } from '../system/programs.ts';
import type { Stack } from '../system/stack.ts';
import { measuredCompany, type ReportSet } from './company.ts';
import { createRaw } from './raw.ts';
import { makeSums } from './sums.ts';

/** Change the name when the stored data changes: older data is then refused. */
const DATA = 'reports 2';
const ROWS = readFileSync(join(import.meta.dirname, 'rows.sql'), 'utf8');
/** Same as the event that integrations publishes, so that reporting does not refresh anything. */
const COMPANY = 'insert into companies (company_id, projection, time_zone, costing_enabled, verified_only) values ($1, 1, $2, true, false)';

/** Connects with reporting's settings, so that triggers accept the writes as those of this release. */
export function asReporting<T>(stack: Stack, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const options = Object.entries({ ...keepingSettings, search_path: 'reporting' }).map(([name, value]) => `-c ${name}=${value}`);
  return withClient(stack, work, options.join(' '));
}

/** Does nothing if the database already holds the data. */
export async function prepareReports(stack: Stack, set: ReportSet): Promise<void> {
  // Existing data is migrated, so that the current tables are measured.
  const upgrade = () => migrate({ url: stack.databaseUrl, schema: schema.schema, sets: schema.migrations });
  const company = measuredCompany(set);
  await asReporting(stack, (client) =>
    once(client, DATA, async () => {
      const { rowCount: old } = await client.query('select from public.made');
      // Kafka keeps reporting's offsets: with a new database, reporting would wait for events that it has already consumed.
      if (old !== 0) throw new Problem(`The data is of an earlier benchmark: remove ${stack.folder} and run again.`);
      say(`Making the data, once: ${set.invoices} invoices and payments, ${set.jobs} jobs …`);
      await client.query('drop schema if exists integrations, billing, scheduling, reporting, raw cascade');
      await upgrade();
      const values: Record<string, string | number> = { ...set, company: `'${company.id}'::uuid` };
      await client.query(ROWS.replace(/(?<!:):(\w+)/g, (text, name: string) => String(values[name] ?? text)));
      say('Making the plain tables, and sums …');
      await createRaw(client);
      await makeSums(client, company.id);
      await client.query(COMPANY, [company.id, company.timezone]);
      const services = await startServices(stack, ['integrations']);
      services.operator.forgetKeys();
      await services.operator.createCompany(company);
      await services.stop('integrations');
    }),
  );
  await upgrade();
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
