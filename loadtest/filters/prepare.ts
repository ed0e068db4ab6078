import { generateVisits } from '@truckroll/demo-company';
import { say } from '@truckroll/local-stack';
import type pg from 'pg';
import { companyId } from '../data/companies.ts';
import { importFile } from '../data/import.ts';
import { startServices } from '../system/programs.ts';
import type { Stack } from '../system/stack.ts';

export interface VisitSet {
  readonly database: string;
  /** A multiple of 40; there are twice as many assignments. */
  readonly visits: number;
}

export interface MeasuredCompany {
  readonly id: string;
  readonly timezone: string;
}

/** Records of an interrupted run that are stored again, because they may have been in flight. */
const OVERLAP = 5000;
const TIMEZONE = 'America/Chicago';

/** Returns the company without storing anything if the database already holds the data. */
export async function prepareVisits(stack: Stack, client: pg.Client, { visits }: VisitSet): Promise<MeasuredCompany> {
  const company = { id: companyId(`truckroll visits ${visits}`), timezone: TIMEZONE };
  const { rows } = await client.query<{ there: boolean }>(`select to_regclass('public.prepared') is not null as there`);
  if (rows[0]?.there === true) return company;
  const services = await startServices(stack, ['scheduling']);
  for (const file of generateVisits({ seed: 3, visits, timezone: TIMEZONE, until: '2026-06-30T18:00:00Z' })) {
    const startedAt = performance.now();
    let records = 0;
    // Rows that an interrupted run stored; records are stored in the order of the file.
    const table = file.path.replaceAll('-', '_');
    const stored = await client.query<{ count: string }>(`select count(*) from scheduling.${table} where company_id = $1`, [company.id]);
    const rest = { ...file, records: skipped(file.records, Math.max(0, Number(stored.rows[0]?.count) - OVERLAP)) };
    await importFile(services.channels, company.id, rest, (count) => {
      const before = records;
      records += count;
      if (Math.floor(before / 50_000) < Math.floor(records / 50_000)) say(`${file.path}: ${records} …`);
    });
    const seconds = (performance.now() - startedAt) / 1000;
    say(`${file.path}: ${records} records in ${seconds.toFixed(1)} s, ${Math.round(records / seconds)}/s`);
  }
  await services.stop('scheduling');
  say('Vacuuming and analysing …');
  await client.query('vacuum (analyze)');
  await client.query('create table public.prepared as select now() as at');
  return company;
}

function* skipped<T>(values: Iterable<T>, count: number): Generator<T> {
  let position = 0;
  for (const value of values) if (position++ >= count) yield value;
}
