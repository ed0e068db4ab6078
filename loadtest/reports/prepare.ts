// Creates the data of both sides once: rows in the read models of reporting, the same rows in plain tables with plain indexes, and sums.
import { sumRound } from '@truckroll/reporting/reports';
import { schema, transactionSettings } from '@truckroll/reporting/schema';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Problem, say } from '@truckroll/local-stack';
import { Database, migrate } from '@truckroll/postgres';
import type pg from 'pg';
import { once, withClient } from '../system/postgres.ts';
import { startServices } from '../system/programs.ts';
import type { Stack } from '../system/stack.ts';
import { measuredCompany, type ReportSet } from './company.ts';
import { createRaw } from './raw.ts';

/** Change the name when the stored data changes: older data is then refused. */
const DATA = 'reports 2';
const ROWS = readFileSync(join(import.meta.dirname, 'rows.sql'), 'utf8');
/** Same as the event that integrations publishes, so that reporting does not refresh anything. */
const COMPANY = 'insert into companies (company_id, projection, time_zone, costing_enabled, verified_only) values ($1, 1, $2, true, false)';

/** Connects with reporting's settings, so that triggers accept the writes as those of this release. */
export function asReporting<T>(stack: Stack, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const options = Object.entries({ ...transactionSettings, search_path: 'reporting' }).map(([name, value]) => `-c ${name}=${value}`);
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
      say('Making the plain tables …');
      await createRaw(client);
      await client.query(COMPANY, [company.id, company.timezone]);
      const services = await startServices(stack, ['integrations']);
      services.operator.forgetKeys();
      await services.operator.createCompany(company);
      await services.stop('integrations');
    }),
  );
  await upgrade();
  say('Summing what is due …');
  const database = new Database({ url: stack.databaseUrl, schema: schema.schema, settings: transactionSettings, statementTimeoutMs: 120_000 });
  try {
    while ((await sumRound(database, { quietMs: 0 })) > 0);
    await database.query({ text: 'analyze' });
  } finally {
    await database.close();
  }
}

/** Resolves when reporting has the company's settings, without which nothing is summed. */
export async function known(client: pg.Client, companyId: string): Promise<void> {
  while ((await client.query('select from reporting.companies where company_id = $1', [companyId])).rowCount === 0) await delay(100);
}
