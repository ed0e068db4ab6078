// What the read benchmarks measure: billing behind the gateway, with a key for each company. The same records are stored once on both sides,
// through the system's import and in the baseline's tables.
import { setTimeout as delay } from 'node:timers/promises';
import { say } from '@truckroll/local-stack';
import type pg from 'pg';
import { Operator, forgetKeys } from '../system/operator.ts';
import { once, published, withClient } from '../system/postgres.ts';
import { startServices, startSystem } from '../system/programs.ts';
import type { Stack } from '../system/stack.ts';
import { createBaseline, loadBaseline } from './baseline.ts';
import { evenCompanies, type DataSet } from './companies.ts';
import { importFile } from './import.ts';
import type { Caller } from './targets.ts';

const LOOK_MS = 100;

export async function startReading(stack: Stack, set: DataSet, env: Record<string, string> = {}) {
  await withClient(stack, (client) => once(client, 'invoices', () => makeInvoices(stack, client, set)));
  const system = await startSystem(stack, ['integrations', 'billing'], env);
  const callers: Caller[] = [];
  for (const { id: companyId } of evenCompanies(set)) callers.push({ companyId, key: await system.operator.keyOf(companyId) });
  return { ...system, callers };
}

async function makeInvoices(stack: Stack, client: pg.Client, set: DataSet): Promise<void> {
  say(`Making the data, once: ${set.companies} × ${set.invoicesPerCompany} invoices …`);
  forgetKeys(stack);
  await client.query('drop schema if exists integrations, billing, scheduling cascade');
  await createBaseline(client);
  const names = ['integrations', 'scheduling', 'billing'] as const;
  const services = await startServices(stack, names);
  const operator = new Operator(stack, services.running.integrations.port);
  for (const company of evenCompanies(set)) {
    await operator.createCompany(company);
    for (const file of company.files) await importFile(services.channels, company.id, file);
    await loadBaseline(client, company);
    say(`${company.name} is stored on both sides`);
  }
  // Every name must arrive, and every event be published, so that no work runs during the measurement.
  await published(client, 'scheduling', LOOK_MS);
  const missing = 'select where (select count(*) from billing.names) < (select count(*) from scheduling.names)';
  while ((await client.query(missing)).rowCount !== 0) await delay(LOOK_MS);
  await published(client, 'billing', LOOK_MS);
  await Promise.all(names.map((name) => services.stop(name)));
}
