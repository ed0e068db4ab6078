// npm run bench:partitions: throughput of one partition, compared with the default number of partitions.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { topics } from '@truckroll/contract';
import { STATE, say } from '@truckroll/local-stack';
import { createKafka, ensureTopics, type Topic } from '@truckroll/outbox';
import { Database } from '@truckroll/postgres';
import { silentLog } from '@truckroll/telemetry';
import pg from 'pg';
import { companyId } from './data/companies.ts';
import { importFile } from './data/import.ts';
import { rounded } from './measure/report.ts';
import { median } from './measure/rounds.ts';
import { billingRecords } from './reports/ingest.ts';
import { runBenchmark } from './system/benchmark.ts';
import { Operator } from './system/operator.ts';
import { drained } from './system/outbox.ts';
import { callCredential, startServices } from './system/programs.ts';
import type { Stack } from './system/stack.ts';
import { drainBacklog } from './webhooks/backlog.ts';
import { createEndpoints } from './webhooks/endpoints.ts';
import { startSinks } from './webhooks/sinks.ts';

const HELP = `npm run bench:partitions -- [--rounds 3] [--events 10000]

What a single partition bounds, for a partition is read by one replica at a time: reporting takes in --events payments that are published already, and
the dispatcher sends --events service requests to 40 endpoints, with topics of one partition and of as many as they are made with, in turn.
`;
const FOLDER = join(STATE, 'benchmarks-partitions');
const DATABASE = 'truckroll_partitions';
const ENDPOINTS = 40;
const LOOK_MS = 20;

const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, events: { type: 'string', default: '10000' }, help: { type: 'boolean', default: false } },
});

type Side = (stack: Stack, topic: Topic, count: number) => Promise<number>;

const SIDES: Readonly<Record<string, { topic: Topic; measure: Side }>> = {
  reporting: { topic: topics.payments, measure: taken },
  dispatcher: { topic: topics.serviceRequests, measure: sent },
};

await runBenchmark({
  help: HELP,
  asked: options.help,
  database: DATABASE,
  folder: FOLDER,
  async run(stack) {
    const rates = new Map<string, number[]>();
    for (let round = 1; round <= Number(options.rounds); round++) {
      for (const [name, { topic, measure }] of Object.entries(SIDES)) {
        for (const partitions of round % 2 === 0 ? [topic.partitions, 1] : [1, topic.partitions]) {
          const perSecond = await measure(stack, { ...topic, partitions }, Number(options.events));
          say(`${name}, ${partitions} of ${topic.name}: ${perSecond.toFixed(0)} events a second`);
          const figure = `${name}_${partitions === 1 ? 'one' : 'all'}_partitions`;
          rates.set(figure, [...(rates.get(figure) ?? []), perSecond]);
        }
      }
    }
    return Object.fromEntries([...rates].map(([name, all]) => [name, rounded(median(all), 0)]));
  },
});

/** Creates the topic beforehand: the service that owns it keeps an existing topic. */
async function withTopic(stack: Stack, topic: Topic): Promise<Record<string, string>> {
  const prefix = `${randomBytes(4).toString('hex')}.`;
  const kafka = createKafka('bench', { kafkaBrokers: (stack.environment['KAFKA_BROKERS'] as string).split(','), kafkaPrefix: prefix }, silentLog);
  await ensureTopics(kafka, [topic], silentLog, AbortSignal.timeout(60_000));
  return { KAFKA_PREFIX: prefix, LOG_LEVEL: 'warn' };
}

async function withoutSchemas<T>(stack: Stack, schemas: readonly string[], work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    for (const schema of schemas) await client.query(`drop schema if exists ${schema} cascade`);
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Rate of payments waiting in the topic, from the first to the last that reporting stores. */
async function taken(stack: Stack, topic: Topic, count: number): Promise<number> {
  return await withoutSchemas(stack, ['integrations', 'billing', 'reporting'], async (client) => {
    const env = await withTopic(stack, topic);
    const owners = await startServices(stack, ['integrations', 'billing'], env);
    const company = companyId('partitions');
    const operator = new Operator(owners.running.integrations.port);
    await operator.createCompany({ id: company, name: 'Partitions', timezone: 'America/Chicago', files: [] });
    const payments = billingRecords(count).find(({ path }) => path === 'payments')?.all ?? [];
    await importFile(owners.channels, company, { path: 'payments', records: payments.slice(0, count) }, () => undefined);
    await drained(client, 'billing');
    const reporting = await startServices(stack, ['reporting'], env);
    const stored = async (): Promise<number> => Number((await client.query<{ n: string }>('select count(*) as n from reporting.payments')).rows[0]?.n);
    let first: { at: number; rows: number } | undefined;
    for (;;) {
      const rows = await stored();
      if (rows > 0) first ??= { at: performance.now(), rows };
      if (first !== undefined && rows >= payments.length) {
        const perSecond = (rows - first.rows) / ((performance.now() - first.at) / 1000);
        await reporting.stop('reporting');
        for (const name of ['billing', 'integrations'] as const) await owners.stop(name);
        return perSecond;
      }
      await delay(LOOK_MS);
    }
  });
}

/** Rate of service requests, from the outbox to a stored 2xx. */
async function sent(stack: Stack, topic: Topic, count: number): Promise<number> {
  const sinks = await startSinks();
  const database = new Database({ url: stack.databaseUrl, schema: 'scheduling', maxConnections: 2 });
  try {
    return await withoutSchemas(stack, ['integrations', 'scheduling'], async () => {
      const env = { ...(await withTopic(stack, topic)), ...sinks.environment };
      const services = await startServices(stack, ['integrations', 'scheduling'], env);
      const dispatcher = await stack.launch({
        name: 'webhook-dispatcher',
        script: 'services/webhook-dispatcher/src/main.ts',
        env: { ...env, CALL_CREDENTIAL: callCredential('webhook-dispatcher'), INTEGRATIONS_ADDRESS: `127.0.0.1:${services.running.integrations.port}` },
      });
      const endpoints = await createEndpoints(
        services.channels.integrations,
        Array.from({ length: ENDPOINTS }, () => sinks.urls.well),
      );
      // New processes first compile their code.
      await drainBacklog(database, endpoints, sinks, 1000);
      const perSecond = await drainBacklog(database, endpoints, sinks, count);
      await dispatcher.stop();
      for (const name of ['scheduling', 'integrations'] as const) await services.stop(name);
      return perSecond;
    });
  } finally {
    await database.close();
    sinks.stop();
  }
}
