// The system under an import: all services, a company with everything that invoices and payments refer to, and a check that all data has arrived.
import { owners } from '@truckroll/contract';
import { randomUUID } from 'node:crypto';
import { describeCompany, generateCompany } from '@truckroll/demo-company';
import { say } from '@truckroll/local-stack';
import type pg from 'pg';
import { TIMEZONE, UNTIL } from '../data/companies.ts';
import { importFile, importLines, linesOf } from '../data/import.ts';
import { chartHeap } from '../load/chart.ts';
import { known } from '../reports/prepare.ts';
import { untilNone } from '../system/postgres.ts';
import { startServices } from '../system/programs.ts';
import type { Stack } from '../system/stack.ts';

/** The measured resources; everything else of a company exists beforehand. */
const MEASURED = ['payments', 'invoices'] as const;
/** What they refer to, in an order in which it can be stored. */
const NEEDED = 'business-units job-lifecycles job-types team-members accounts jobs job-appointments job-assignments job-financials'.split(' ');

export interface Company {
  readonly id: string;
  /** Lines of each resource in MEASURED, in that order; prepared beforehand, as COPY's files are. */
  readonly files: readonly { readonly path: string; readonly lines: readonly Buffer[] }[];
  readonly records: number;
}

/** Starts with empty schemas and a new topic prefix. */
export async function startWorld(stack: Stack, client: pg.Client) {
  await client.query(`drop schema if exists ${owners.join(', ')} cascade`);
  const bound = `${process.env['NODE_OPTIONS'] ?? ''} ${chartHeap('billing')}`;
  const services = await startServices(stack, owners, { KAFKA_PREFIX: `imports-${Date.now()}-`, NODE_OPTIONS: bound });
  let seed = 0;

  async function company(jobs: number): Promise<Company> {
    const options = { seed: ++seed, size: jobs, timezone: TIMEZONE, until: UNTIL };
    const id = randomUUID();
    await services.operator.createCompany({ id, name: describeCompany(options).name, timezone: TIMEZONE });
    const files = new Map([...generateCompany(options)].map((file) => [file.path, file]));
    for (const path of NEEDED) {
      const file = files.get(path);
      if (file !== undefined) await importFile(services.channels, id, file);
    }
    await settled('scheduling');
    await known(client, id);
    const measured = MEASURED.map((path) => ({ path, lines: [...linesOf(files.get(path)?.records ?? [])] }));
    return { id, files: measured, records: measured.reduce((sum, { lines }) => sum + lines.length, 0) };
  }

  /** Imports the measured records of all companies at once. Resolves to the seconds until they are readable, including sums. */
  async function store(companies: readonly Company[]): Promise<number> {
    const startedAt = performance.now();
    const seconds = (): number => (performance.now() - startedAt) / 1000;
    const importOne = async ({ id, files }: Company): Promise<void> => {
      for (const { path, lines } of files) await importLines(services.channels, id, path, lines);
    };
    await Promise.all(companies.map(importOne));
    const stored = seconds();
    await settled('billing');
    const readable = seconds();
    say(`${stored.toFixed(1)} s until stored, ${readable.toFixed(1)} s until all of it can be read`);
    return readable;
  }

  /** Resolves when Kafka has acknowledged and reporting has applied everything the owner has committed so far, by its watermark (docs/adr/0006). */
  async function settled(owner: 'scheduling' | 'billing'): Promise<void> {
    const { rows } = await client.query<{ now: string }>('select clock_timestamp()::text as now');
    const behind = 'select where not exists (select from reporting.applied_until where source = $1 and at >= $2::timestamptz)';
    await untilNone(client, behind, [`/truckroll/${owner}`, rows[0]?.now]);
  }

  return { services, company, store };
}
