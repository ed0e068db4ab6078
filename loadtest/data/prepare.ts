// Creates the data of both sides once: the same records through the system's import and in the baseline's tables.
import { setTimeout as delay } from 'node:timers/promises';
import { say } from '@truckroll/local-stack';
import type pg from 'pg';
import { Operator, type KeyFile } from '../system/operator.ts';
import { withClient } from '../system/postgres.ts';
import { startServices } from '../system/programs.ts';
import type { Stack } from '../system/stack.ts';
import { createBaseline, loadBaseline } from './baseline.ts';
import { evenCompanies, type DataSet } from './companies.ts';
import { importFile } from './import.ts';

/** Increase when the stored data changes: older data is then recreated. */
const VERSION = 1;
const SETTLED_MS = 1000;

/** Does nothing if the database already holds the data; restarts an interrupted preparation. */
export async function prepareData(stack: Stack, set: DataSet, keys: KeyFile): Promise<void> {
  await withClient(stack, async (client) => {
    if (await isPrepared(client)) return;
    say(`Making the data, once: ${set.companies} × ${set.invoicesEach} invoices …`);
    keys.forget();
    await client.query('drop schema if exists integrations, billing, scheduling cascade');
    await createBaseline(client);
    const services = await startServices(stack, ['integrations', 'scheduling', 'billing']);
    const operator = new Operator(services.running.integrations.port);
    for (const company of evenCompanies(set)) {
      await operator.createCompany(company);
      await counted(`${company.name}, import`, async (count) => {
        for (const file of company.files) await importFile(services.channels, company.id, file, count);
      });
      await counted(`${company.name}, baseline`, (count) => loadBaseline(client, company, count));
    }
    await settled(client);
    await services.stop('scheduling');
    say('Vacuuming and analysing both …');
    await client.query('vacuum (analyze)');
    await client.query('checkpoint');
    await client.query('create table baseline.prepared as select $1::int as version', [VERSION]);
    await Promise.all([services.stop('billing'), services.stop('integrations')]);
  });
}

async function isPrepared(client: pg.Client): Promise<boolean> {
  const { rows: known } = await client.query<{ there: boolean }>(`select to_regclass('baseline.prepared') is not null as there`);
  if (known[0]?.there !== true) return false;
  const { rows } = await client.query<{ version: number }>('select version from baseline.prepared');
  return rows[0]?.version === VERSION;
}

async function counted(label: string, work: (count: (records: number) => void) => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  let records = 0;
  await work((count) => (records += count));
  const seconds = (performance.now() - startedAt) / 1000;
  say(`${label}: ${records} records in ${seconds.toFixed(1)} s, ${Math.round(records / seconds)}/s`);
}

/** Resolves when every event of the import is published and every name has arrived, so that no work runs during the measurement. */
async function settled(client: pg.Client): Promise<void> {
  for (let still = 0; still < 3; ) {
    await delay(SETTLED_MS);
    const { rows } = await client.query<{ waiting: boolean }>(`
      select exists (select from billing.outbox) or exists (select from scheduling.outbox)
        or (select count(*) from billing.names) < (select count(*) from scheduling.names) as waiting`);
    still = rows[0]?.waiting === true ? 0 : still + 1;
  }
}
