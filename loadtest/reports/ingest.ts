// The cost of maintaining sums when events are ingested: the same events for a company with sums, and for one unknown to reporting, which
// therefore has no sums.
import { randomUUID } from 'node:crypto';
import { generateInvoices, type DemoRecord } from '@truckroll/demo-company';
import { say } from '@truckroll/local-stack';
import type pg from 'pg';
import { TIMEZONE, UNTIL } from '../data/companies.ts';
import { importFile } from '../data/import.ts';
import { timed } from '../measure/latency.ts';
import { rounded } from '../measure/report.ts';
import { inTurn } from '../measure/turns.ts';
import { untilNone } from '../system/postgres.ts';
import type { Services } from '../system/programs.ts';
import { known } from './prepare.ts';

const PORTIONS = 5;

/** Seconds with sums ÷ seconds without, over alternating portions. */
export async function ingestCost(client: pg.Client, { channels, operator }: Services, events: number): Promise<number> {
  const companies = { with: randomUUID(), without: randomUUID() };
  await operator.createCompany({ id: companies.with, name: 'Benchmark of ingest', timezone: TIMEZONE });
  await known(client, companies.with);
  const each = Math.ceil(events / 2 / PORTIONS);
  const records = billingRecords(each * PORTIONS);
  const side = (of: keyof typeof companies) => async (portion: number) => {
    const took = await timed(async () => {
      for (const { path, all } of records) {
        await importFile(channels, companies[of], { path, records: all.slice(portion * each, (portion + 1) * each) });
      }
      for (const { path } of records) {
        const missing = `select where (select count(*) from reporting.${path} where company_id = $1) < $2`;
        await untilNone(client, missing, [companies[of], (portion + 1) * each]);
      }
    });
    say(`portion ${portion + 1}, ${of} sums: ${(took / 1000).toFixed(1)} s until applied`);
    return took;
  };
  const took = await inTurn(PORTIONS, { with: side('with'), without: side('without') });
  await forget(client, Object.values(companies));
  const sum = (of: readonly number[]): number => of.reduce((total, ms) => total + ms, 0);
  return rounded(sum(took.with) / sum(took.without));
}

export function billingRecords(invoices: number): { path: string; all: DemoRecord[] }[] {
  const [company] = generateInvoices({ timezone: TIMEZONE, until: UNTIL, seed: 5, companies: 1, invoicesPerCompany: invoices });
  return (company?.files ?? []).filter(({ path }) => path === 'invoices' || path === 'payments').map(({ path, records }) => ({ path, all: [...records] }));
}

/** Deletes what was imported, so that every run starts from the same state. */
async function forget(client: pg.Client, companies: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ name: string }>(`
    select format('%I.%I', table_schema, table_name) as name from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema in ('billing', 'reporting') and column_name = 'company_id' and table_type = 'BASE TABLE'`);
  for (const { name } of rows) await client.query(`delete from ${name} where company_id = any($1)`, [companies]);
}
