// npm run bench:changes: reading the change feed from the beginning, waiting for a change, and waiting without one.
import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { owners, resource } from '@truckroll/contract';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { ServiceRequestChannel } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { generateCompany } from '@truckroll/demo-company';
import { STATE, say } from '@truckroll/local-stack';
import { Feed } from './changes/feed.ts';
import { companyId, type BenchmarkCompany } from './data/companies.ts';
import { importFile } from './data/import.ts';
import { cpuText, withCpu, type Groups } from './measure/cpu.ts';
import { rounded } from './measure/report.ts';
import { median } from './measure/rounds.ts';
import { runBenchmark } from './system/benchmark.ts';
import { KeyFile, Operator } from './system/operator.ts';
import { drained } from './system/outbox.ts';
import { postgresPid } from './system/postgres.ts';
import { startGateway, startServices } from './system/programs.ts';
import type { Stack } from './system/stack.ts';

const HELP = `npm run bench:changes -- [--jobs 34000] [--rounds 3] [--changes 200] [--polls 1000] [--seconds 60]

catch-up  a company of --jobs jobs (half a million records) is read from the beginning, with pages of 1,000, without compression: median of
          --rounds rounds
fresh     --changes service requests are recorded one after another, and a poll waits for each: from the start of the call to the last
          byte of the answer
idle      --polls polls of companies in which nothing changes, 20 of each, repeated after 30 s: processor time of the whole system in
          --seconds seconds, minus that without polls
`;
const DATABASE = 'truckroll_changes';
/** A separate folder, so that it can run next to the other benchmarks' data. */
const FOLDER = join(STATE, 'benchmarks-changes');
const TIMEZONE = 'America/Chicago';
const POLLS_EACH = 20;
const WAIT_SECONDS = 30;

const { values: options } = parseArgs({
  options: {
    jobs: { type: 'string', default: '34000' },
    rounds: { type: 'string', default: '3' },
    changes: { type: 'string', default: '200' },
    polls: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '60' },
    help: { type: 'boolean', default: false },
  },
});
const jobs = Number(options.jobs);
const rounds = Number(options.rounds);
const changes = Number(options.changes);
const polls = Number(options.polls);
const seconds = Number(options.seconds);

await runBenchmark({ help: HELP, asked: options.help, database: DATABASE, folder: FOLDER, run: benchmark });

async function benchmark(stack: Stack): Promise<Record<string, number>> {
  const services = await startServices(stack, owners, { LOG_LEVEL: 'warn' });
  const gateway = await startGateway(stack, services, { CHANGES_PER_MINUTE: '100000000' });
  const operator = new Operator(services.running.integrations.port);
  const keys = new KeyFile(join(FOLDER, 'keys.json'));
  const company = (name: string): BenchmarkCompany => ({ id: companyId(`changes, ${name}`), name: `Changes, ${name}`, timezone: TIMEZONE, files: [] });
  const keyOf = async (of: BenchmarkCompany): Promise<string> => {
    await operator.createCompany(of);
    return await keys.of(of.id, operator);
  };
  const [large, small] = [company(`${jobs} jobs`), company('small')];
  const feeds = { large: new Feed(gateway.port, await keyOf(large)), small: new Feed(gateway.port, await keyOf(small)) };
  await makeRecords(stack, services.channels, large);

  const rates: number[] = [];
  for (let round = 1; round <= rounds; round++) rates.push(await catchUp(feeds.large));
  const intake = services.channels.scheduling.client(IntakeServiceService);
  const record = () => intake.recordServiceRequest({ company_id: small.id, id: randomUUID(), channel: ServiceRequestChannel.PHONE, summary: 'No heat' });
  const times = await freshness(feeds.small, record);

  const idle: Feed[] = [];
  for (let at = 0; at * POLLS_EACH < polls; at++) idle.push(new Feed(gateway.port, await keyOf(company(`idle ${at}`))));
  const groups: Groups = {
    gateway: [gateway.pid],
    ...Object.fromEntries(Object.entries(services.running).map(([name, { pid }]) => [name, [pid]])),
    PostgreSQL: [await postgresPid(stack)],
    Redis: [stack.pidOf('redis') ?? 0],
  };
  return {
    catch_up_per_second: Math.round(median(rates)),
    fresh_p50_ms: Math.round(median(times)),
    fresh_p99_ms: Math.round(times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] as number),
    idle_polls_cores: rounded(await idleCores(idle, groups), 3),
  };
}

/** Does nothing if the records exist. */
async function makeRecords(stack: Stack, channels: Parameters<typeof importFile>[0], { id }: BenchmarkCompany): Promise<void> {
  const mark = join(FOLDER, `made-${id}`);
  if (existsSync(mark)) return;
  say(`Making the records of a company of ${jobs} jobs, once …`);
  for (const file of generateCompany({ seed: 1, size: jobs, timezone: TIMEZONE, until: '2026-06-30T18:00:00Z' })) {
    // Reporting derives job financials, and integrations' records are created by other records.
    if (['scheduling', 'billing'].includes(resource(file.path).owner)) await importFile(channels, id, file, () => undefined);
  }
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    for (const schema of ['scheduling', 'billing'] as const) await drained(client, schema);
    await client.query('vacuum (analyze)');
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
  writeFileSync(mark, '');
}

async function catchUp(feed: Feed): Promise<number> {
  const { data } = JSON.parse(await feed.read('/digest')) as { data: { count: number }[] };
  const records = data.reduce((sum, { count }) => sum + count, 0);
  const startedAt = performance.now();
  for (let query = '?limit=1000'; ; ) {
    const { cursor, more } = await feed.page(query);
    if (!more) break;
    query = `?limit=1000&cursor=${cursor}`;
  }
  const perSecond = records / ((performance.now() - startedAt) / 1000);
  say(`${records} records, ${Math.round(perSecond)} a second`);
  return perSecond;
}

/** Milliseconds of each change. Pauses differ, so that changes come at any time between two looks of the services. */
async function freshness(feed: Feed, record: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  let { cursor } = await feed.page('?cursor=now');
  for (let at = 0; at < changes; at++) {
    const waiting = feed.page(`?wait=${WAIT_SECONDS}&kinds=service-requests&cursor=${cursor}`);
    await delay(100 + ((at * 37) % 250));
    const startedAt = performance.now();
    const [page] = await Promise.all([waiting, record()]);
    if (page.empty) throw new Error('a poll was answered without the change that it waited for');
    times.push(performance.now() - startedAt);
    cursor = page.cursor;
  }
  return times;
}

/** Cores that the polls take, once they are spread over the time for which they wait. */
async function idleCores(feeds: readonly Feed[], groups: Groups): Promise<number> {
  const without = await withCpu(groups, () => delay(seconds * 1000));
  let ended = false;
  const poll = async (feed: Feed, from: string): Promise<void> => {
    await delay(Math.random() * WAIT_SECONDS * 1000);
    for (let cursor = from; !ended; ) ({ cursor } = await feed.page(`?wait=${WAIT_SECONDS}&cursor=${cursor}`));
  };
  const polling: Promise<void>[] = [];
  for (const feed of feeds) {
    const { cursor } = await feed.page('?cursor=now');
    polling.push(...Array.from({ length: POLLS_EACH }, () => poll(feed, cursor)));
  }
  await delay(2 * WAIT_SECONDS * 1000);
  const { cpu } = await withCpu(groups, () => delay(seconds * 1000));
  ended = true;
  await Promise.all(polling);
  const each = Object.entries(cpu).map(([name, ms]) => [name, (ms - (without.cpu[name] ?? 0)) / seconds] as const);
  say(`${polling.length} idle polls: ${cpuText(Object.fromEntries(each))} ms a second`);
  return each.reduce((sum, [, ms]) => sum + ms, 0) / 1000;
}
