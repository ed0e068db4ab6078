// Creates the data of both sides once: rows copied into reporting's read models, the same rows in plain tables with plain indexes, and sums.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Problem, say } from '@truckroll/local-stack';
import { migrate } from '@truckroll/postgres';
import { keepingSettings, schema } from '@truckroll/reporting/schema';
import pg from 'pg';
import { copyRows, type Value } from '../data/copy.ts';
import { KeyFile, Operator } from '../system/operator.ts';
import { startServices } from '../system/programs.ts';
import type { Stack } from '../system/stack.ts';
import { measuredCompany, type ReportSet } from './company.ts';
import { createRaw } from './raw.ts';
import { tablesOf } from './rows.ts';
import { makeSums } from './sums.ts';

/** Increase when the stored data changes: older data is then refused. */
const VERSION = 1;
const ROWS_AT_ONCE = 10_000;
/** Same as the event that integrations publishes, so that reporting does not refresh anything. */
const COMPANY = 'insert into companies (company_id, projection, time_zone, costing_enabled, verified_only) values ($1, 1, $2, true, false)';

/** Connects with reporting's settings, so that triggers accept the writes as those of this release. */
export async function connectAsReporting(stack: Stack): Promise<pg.Client> {
  const options = Object.entries(keepingSettings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
  const client = new pg.Client({ connectionString: stack.databaseUrl, options: `${options} -c search_path=reporting` });
  await client.connect();
  return client;
}

export function keysOf(stack: Stack): KeyFile {
  return new KeyFile(join(stack.folder, 'keys.json'));
}

/** Does nothing if the database already holds the data; restarts an interrupted preparation. */
export async function prepareReports(stack: Stack, set: ReportSet): Promise<void> {
  // Existing data is migrated, so that the current tables are measured.
  const upgrade = () => migrate({ url: stack.databaseUrl, schema: schema.schema, sets: schema.migrations });
  const client = await connectAsReporting(stack);
  try {
    if (await isPrepared(client, stack.folder)) return void (await upgrade());
    say(`Making the data, once: ${set.invoices} invoices and payments, ${set.jobs} jobs …`);
    keysOf(stack).forget();
    await client.query('drop schema if exists integrations, billing, scheduling, reporting, raw cascade');
    await upgrade();
    const company = measuredCompany(set);
    for (const { name, columns, rows } of tablesOf(set, company.id)) {
      for (const batch of batches(rows())) await copyRows(client, name, columns, batch);
      say(`${name} …`);
    }
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
  } finally {
    await client.end();
  }
}

async function isPrepared(client: pg.Client, folder: string): Promise<boolean> {
  const { rows: known } = await client.query<{ there: boolean }>(`select to_regclass('raw.prepared') is not null as there`);
  if (known[0]?.there !== true) return false;
  const { rows } = await client.query<{ version: number }>('select version from raw.prepared');
  // Kafka keeps reporting's offsets: with a new database, reporting would wait for events that it has already consumed.
  if (rows[0]?.version !== VERSION) throw new Problem(`The data is of an earlier benchmark: remove ${folder} and run again.`);
  return true;
}

function* batches(rows: Iterable<readonly Value[]>): Generator<(readonly Value[])[]> {
  let batch: (readonly Value[])[] = [];
  for (const row of rows) {
    batch.push(row);
    if (batch.length < ROWS_AT_ONCE) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

/** Retires the company's sums. Resolves to the seconds until reporting has rebuilt them. */
export async function firstBuild(client: pg.Client, companyId: string): Promise<number> {
  await client.query(`update generations set state = 'retired' where company_id = $1`, [companyId]);
  return await built(client, companyId);
}

/** Resolves to the seconds until the company's sums exist. Throws Problem if another process writes to the database. */
export async function built(client: pg.Client, companyId: string): Promise<number> {
  const startedAt = performance.now();
  for (let told = performance.now(); ; await delay(100)) {
    const { rows } = await client.query<{ state: string; stage: number; after: string | null }>(
      'select state, stage, after from reporting.generations where company_id = $1',
      [companyId],
    );
    if (rows.some(({ state }) => state === 'current')) break;
    if (rows.filter(({ state }) => state !== 'retired').length > 1)
      throw new Problem('Sums were spoiled while they were built: something else writes to this database.');
    if (performance.now() - told < 10_000) continue;
    told = performance.now();
    const building = rows.find(({ state }) => state === 'building');
    say(`Building sums: stage ${building?.stage ?? 0}, up to ${building?.after ?? 'nothing'} …`);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  say(`Built the sums in ${seconds.toFixed(1)} s.`);
  return seconds;
}
