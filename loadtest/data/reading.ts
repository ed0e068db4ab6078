// What the read benchmarks measure: billing behind the gateway, with a key for each company. The same records are stored once on both sides,
// through the system's import and in the baseline's tables.
import { say } from '@truckroll/local-stack';
import type pg from 'pg';
import { once, published, untilNone, withClient } from '../system/postgres.ts';
import { startServices, startSystem } from '../system/programs.ts';
import type { Stack } from '../system/stack.ts';
import { createBaseline, loadBaseline } from './baseline.ts';
import type { BenchmarkCompany } from './companies.ts';
import { importFile } from './import.ts';
import type { Caller } from './targets.ts';

/** Most lines that say how far storing is. */
const LINES = 20;

/** `baseline` says whether the baseline's tables are needed too. */
export async function startReading(
  stack: Stack,
  companies: readonly BenchmarkCompany[],
  { env = {}, baseline = true }: { env?: Record<string, string>; baseline?: boolean } = {},
) {
  await withClient(stack, (client) => once(client, 'invoices', () => makeInvoices(stack, client, companies, baseline)));
  const system = await startSystem(stack, ['integrations', 'billing'], env);
  const callers: Caller[] = [];
  for (const { id: companyId } of companies) callers.push({ companyId, key: await system.services.operator.keyOf(companyId) });
  return { ...system, callers };
}

async function makeInvoices(stack: Stack, client: pg.Client, companies: readonly BenchmarkCompany[], baseline: boolean): Promise<void> {
  say(`Making the data, once: the invoices of ${companies.length} companies …`);
  await client.query('drop schema if exists integrations, billing, scheduling cascade');
  if (baseline) await createBaseline(client);
  const names = ['integrations', 'scheduling', 'billing'] as const;
  const services = await startServices(stack, names);
  services.operator.forgetKeys();
  for (const [at, company] of companies.entries()) {
    await services.operator.createCompany(company);
    for (const file of company.files) await importFile(services.channels, company.id, file);
    if (baseline) await loadBaseline(client, company);
    if ((at + 1) % Math.ceil(companies.length / LINES) === 0) say(`${company.name} is stored`);
  }
  // Every name must arrive, and every event be published, so that no work runs during the measurement.
  await published(client, 'scheduling');
  await untilNone(client, 'select where (select count(*) from billing.names) < (select count(*) from scheduling.names)');
  await published(client, 'billing');
  await Promise.all(names.map((name) => services.stop(name)));
}
