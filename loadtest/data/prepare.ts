// Creates the data of both sides once: the same records through the system's import and in the baseline's tables.
import { setTimeout as delay } from 'node:timers/promises';
import { say } from '@truckroll/local-stack';
import type pg from 'pg';
import { Operator, type KeyFile } from '../system/operator.ts';
import { once, withClient } from '../system/postgres.ts';
import { startServices } from '../system/programs.ts';
import type { Stack } from '../system/stack.ts';
import { createBaseline, loadBaseline } from './baseline.ts';
import { evenCompanies, type DataSet } from './companies.ts';
import { importFile } from './import.ts';

const SETTLED_MS = 1000;

export function prepareData(stack: Stack, set: DataSet, keys: KeyFile): Promise<void> {
  return withClient(stack, (client) =>
    once(client, 'invoices', async () => {
      say(`Making the data, once: ${set.companies} × ${set.invoicesEach} invoices …`);
      keys.forget();
      await client.query('drop schema if exists integrations, billing, scheduling cascade');
      await createBaseline(client);
      const names = ['integrations', 'scheduling', 'billing'] as const;
      const services = await startServices(stack, names);
      const operator = new Operator(services.running.integrations.port);
      for (const company of evenCompanies(set)) {
        await operator.createCompany(company);
        for (const file of company.files) await importFile(services.channels, company.id, file);
        await loadBaseline(client, company);
        say(`${company.name} is stored on both sides`);
      }
      await settled(client);
      await Promise.all(names.map((name) => services.stop(name)));
    }),
  );
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
