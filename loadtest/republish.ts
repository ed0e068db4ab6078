// npm run bench:republish: rows a second at which billing publishes its stored records again.
import { PublishingServiceService } from '@truckroll/contract/gen/records/v1/records';
import { say } from '@truckroll/local-stack';
import type pg from 'pg';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { companyId } from './data/companies.ts';
import { importFile } from './data/import.ts';
import { cpuText, perEach, withCpu } from './measure/cpu.ts';
import { timed } from './measure/latency.ts';
import { median } from './measure/rounds.ts';
import { billingRecords } from './reports/ingest.ts';
import { runBenchmark } from './system/benchmark.ts';
import { drained } from './system/outbox.ts';
import { postgresPid, withClient } from './system/postgres.ts';
import { startServices, type Services } from './system/programs.ts';
import type { Stack } from './system/stack.ts';

const HELP = `npm run bench:republish -- [--invoices 30000] [--rounds 5]

Publishes all invoices and payments of billing again, as \`truckroll publish\` does, until Kafka has acknowledged them. Nothing else runs. The
first run creates the records. Prints the median of --rounds, and CPU time by process.
`;
const LOOK_MS = 20;

const { values: options } = parseArgs({
  options: {
    invoices: { type: 'string', default: '30000' },
    rounds: { type: 'string', default: '5' },
    help: { type: 'boolean', default: false },
  },
});

await runBenchmark({
  help: HELP,
  asked: options.help,
  database: `truckroll_republish_${options.invoices}`,
  run: (stack) => withClient(stack, (client) => benchmark(stack, client)),
});

async function benchmark(stack: Stack, client: pg.Client): Promise<Record<string, number>> {
  const services = await startServices(stack, ['billing'], { KAFKA_PREFIX: `republish-${Date.now()}-` });
  await prepare(services, client);
  const groups = { billing: [services.running.billing.pid], PostgreSQL: [await postgresPid(stack)], Kafka: [stack.pidOf('kafka') ?? 0] };
  const rates: number[] = [];
  for (let round = 1; round <= Number(options.rounds); round++) {
    await client.query('vacuum billing.outbox');
    await client.query('checkpoint');
    const { result: ms, cpu } = await withCpu(groups, () => timed(() => publishAll(services, client)));
    const { rows } = await client.query<{ count: number }>('select sum(published)::int as count from billing.publications');
    const count = rows[0]?.count ?? 0;
    rates.push((count / ms) * 1000);
    say(`round ${round}: ${count} rows in ${(ms / 1000).toFixed(2)} s; CPU ms for 1,000 rows: ${cpuText(perEach(cpu, count / 1000))}`);
  }
  await services.stop('billing');
  return { republished_rows_per_second: Math.round(median(rates)) };
}

async function publishAll({ channels }: Pick<Services, 'channels'>, client: pg.Client): Promise<void> {
  // The service works until it is done; its first progress report shows that it has begun.
  await channels.billing.client(PublishingServiceService).publish({})[Symbol.asyncIterator]().next();
  while ((await client.query('select from billing.publications where not done')).rowCount !== 0) await delay(LOOK_MS);
  await drained(client, 'billing');
}

/** Does nothing if the database already holds the records. */
async function prepare({ channels }: Pick<Services, 'channels'>, client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ made: boolean }>(`select to_regclass('republish_made') is not null as made`);
  if (rows[0]?.made === true) return;
  say('making the records, once …');
  for (const { path, all } of billingRecords(Number(options.invoices))) {
    await importFile(channels, companyId('truckroll republish'), { path, records: all }, () => undefined);
  }
  await drained(client, 'billing');
  await client.query('vacuum (analyze)');
  await client.query('create table republish_made ()');
}
