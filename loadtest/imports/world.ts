// The system under an import: all services, a company with everything that invoices and payments refer to, and a check that all data has arrived.
import { owners } from '@truckroll/contract';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describeCompany, generateCompany } from '@truckroll/demo-company';
import { say } from '@truckroll/local-stack';
import type pg from 'pg';
import { TIMEZONE, UNTIL } from '../data/companies.ts';
import { importFile, importLines, linesOf } from '../data/import.ts';
import { chartHeap } from '../load/chart.ts';
import { built } from '../reports/prepare.ts';
import { Operator } from '../system/operator.ts';
import { startServices, type Services } from '../system/programs.ts';
import type { Stack } from '../system/stack.ts';

/** The measured resources; everything else of a company exists beforehand. */
const MEASURED = ['payments', 'invoices'] as const;
/** What they refer to, in an order in which it can be stored. */
const NEEDED = 'business-units job-lifecycles job-types team-members accounts jobs job-appointments job-assignments job-financials'.split(' ');
const LOOK_MS = 20;

export interface Company {
  readonly id: string;
  /** Lines of each resource in MEASURED, in that order; prepared beforehand, as COPY's files are. */
  readonly files: readonly { readonly path: string; readonly lines: readonly Buffer[] }[];
  readonly records: number;
}

export class World {
  readonly services: Services;
  readonly #client: pg.Client;
  readonly #operator: Operator;
  #seed = 0;

  private constructor(client: pg.Client, services: Services) {
    this.#client = client;
    this.services = services;
    this.#operator = new Operator(services.running.integrations.port);
  }

  /** Starts with empty schemas and a new topic prefix. */
  static async start(stack: Stack, client: pg.Client): Promise<World> {
    await client.query(`drop schema if exists ${owners.join(', ')} cascade`);
    const bound = `${process.env['NODE_OPTIONS'] ?? ''} ${chartHeap('billing')}`;
    const services = await startServices(stack, owners, { KAFKA_PREFIX: `imports-${Date.now()}-`, NODE_OPTIONS: bound });
    return new World(client, services);
  }

  async company(jobs: number): Promise<Company> {
    const options = { seed: ++this.#seed, size: jobs, timezone: TIMEZONE, until: UNTIL };
    const id = randomUUID();
    await this.#operator.createCompany({ id, name: describeCompany(options).name, timezone: TIMEZONE });
    const files = new Map([...generateCompany(options)].map((file) => [file.path, file]));
    for (const path of NEEDED) {
      const file = files.get(path);
      if (file !== undefined) await importFile(this.services.channels, id, file);
    }
    await this.#settled('scheduling');
    await built(this.#client, id);
    const measured = MEASURED.map((path) => ({ path, lines: [...linesOf(files.get(path)?.records ?? [])] }));
    return { id, files: measured, records: measured.reduce((sum, { lines }) => sum + lines.length, 0) };
  }

  /** Imports the measured records of all companies at once. Resolves to the seconds until they are readable, including sums. */
  async store(companies: readonly Company[]): Promise<number> {
    const startedAt = performance.now();
    await Promise.all(
      companies.map(async ({ id, files }) => {
        for (const { path, lines } of files) await importLines(this.services.channels, id, path, lines);
      }),
    );
    const imported = performance.now();
    await this.#settled('billing');
    say(`${((imported - startedAt) / 1000).toFixed(1)} s until stored, ${((performance.now() - startedAt) / 1000).toFixed(1)} s until all of it can be read`);
    return (performance.now() - startedAt) / 1000;
  }

  async stop(): Promise<void> {
    for (const name of owners.toReversed()) await this.services.stop(name);
  }

  /** Resolves when Kafka has acknowledged and reporting has applied everything the owner has committed so far, by its watermark (docs/adr/0006). */
  async #settled(owner: 'scheduling' | 'billing'): Promise<void> {
    const { rows } = await this.#client.query<{ now: string }>('select clock_timestamp()::text as now');
    const reached = 'select from reporting.applied_until where source = $1 and at >= $2::timestamptz';
    while ((await this.#client.query(reached, [`/truckroll/${owner}`, rows[0]?.now])).rowCount === 0) await delay(LOOK_MS);
  }
}
