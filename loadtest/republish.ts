// npm run bench:republish: rows a second at which billing publishes its stored records again.
import { PublishingServiceService } from '@truckroll/contract/gen/records/v1/records';
import { say } from '@truckroll/local-stack';
import type pg from 'pg';
import { companyId } from './data/companies.ts';
import { importFile } from './data/import.ts';
import { cpuText, perEach, withCpu } from './measure/cpu.ts';
import { timed } from './measure/latency.ts';
import { median } from './measure/turns.ts';
import { billingRecords } from './reports/ingest.ts';
import { runBenchmark, type Figures } from './system/benchmark.ts';
import { once, published, untilNone, withClient } from './system/postgres.ts';
import { groupsOf, startServices, type Services } from './system/programs.ts';
import type { Stack } from './system/stack.ts';

const HELP = `npm run bench:republish -- [--invoices 30000] [--rounds 5]

Publishes all invoices and payments of billing again, as \`truckroll publish\` does, until Kafka has acknowledged them. Nothing else runs. The
first run creates the records. Prints the median of --rounds, and CPU time by process.
`;

await runBenchmark({
  help: HELP,
  numbers: { invoices: 30_000, rounds: 5 },
  database: ({ invoices }) => `truckroll_republish_${invoices}`,
  run: (stack, options) => withClient(stack, (client) => benchmark(stack, client, options)),
});

async function benchmark(stack: Stack, client: pg.Client, { invoices, rounds }: { invoices: number; rounds: number }): Promise<Figures> {
  const services = await startServices(stack, ['billing'], { KAFKA_PREFIX: `republish-${Date.now()}-` });
  await once(client, 'republish_records', () => prepare(services, invoices), ['billing']);
  const groups = await groupsOf(stack, services.running);
  const rates: number[] = [];
  for (let round = 1; round <= rounds; round++) {
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
  await untilNone(client, 'select from billing.publications where not done');
  await published(client, 'billing');
}

async function prepare({ channels }: Pick<Services, 'channels'>, invoices: number): Promise<void> {
  say('making the records, once …');
  for (const { path, all } of billingRecords(invoices)) await importFile(channels, companyId('truckroll republish'), { path, records: all });
}
