// npm run bench:changes: reading the change feed from the beginning, waiting for a change, and waiting without one.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { owners } from '@truckroll/contract';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { ServiceRequestChannel } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { say } from '@truckroll/local-stack';
import { Feed, WAIT_SECONDS, freshness } from './changes/feed.ts';
import { emptyCompany, type BenchmarkCompany } from './data/companies.ts';
import { importOnce } from './data/import.ts';
import { cpuText, withCpu, type Groups } from './measure/cpu.ts';
import { latencyOf } from './measure/latency.ts';
import { rounded } from './measure/report.ts';
import { inTurn, median } from './measure/turns.ts';
import { runBenchmark, type BenchmarkOptions, type Figures } from './system/benchmark.ts';
import { groupsOf, startSystem } from './system/programs.ts';
import type { Stack } from './system/stack.ts';

const HELP = `npm run bench:changes -- [--jobs 34000] [--rounds 3] [--changes 200] [--polls 1000] [--seconds 60] [--quick]

catch-up  a company of --jobs jobs (half a million records) is read from the beginning, with pages of 1,000, without compression: median of
          --rounds rounds
fresh     --changes service requests are recorded one after another, and a poll waits for each: from the start of the call to the last
          byte of the answer
idle      --polls polls of companies in which nothing changes, 20 of each, repeated after 30 s: processor time of the whole system in
          --seconds seconds, minus that without polls
--quick uses little data: for developing only.
`;
const POLLS_EACH = 20;

await runBenchmark({
  help: HELP,
  numbers: { jobs: [34_000, 300], rounds: [3, 1], changes: [200, 20], polls: [1000, 100], seconds: [60, 5] },
  database: () => 'truckroll_changes',
  run: benchmark,
});

async function benchmark(stack: Stack, { jobs, rounds, changes, polls, seconds }: Options): Promise<Figures> {
  const { services, gateway } = await startSystem(stack, owners, { LOG_LEVEL: 'warn', CHANGES_PER_MINUTE: '100000000' });
  const feedOf = async (company: BenchmarkCompany): Promise<Feed> => {
    await services.operator.createCompany(company);
    return new Feed(gateway.port, await services.operator.keyOf(company.id));
  };
  const [large, small] = [emptyCompany(`changes, ${jobs} jobs`), emptyCompany('changes, small')];
  const feeds = { large: await feedOf(large), small: await feedOf(small) };
  await importOnce(stack, services.channels, large, { seed: 1, size: jobs }, ['scheduling', 'billing']);

  const { rates } = await inTurn(rounds, { rates: () => catchUp(feeds.large) });
  const intake = services.channels.scheduling.client(IntakeServiceService);
  const record = () => intake.recordServiceRequest({ company_id: small.id, id: randomUUID(), channel: ServiceRequestChannel.PHONE, summary: 'No heat' });
  const fresh = latencyOf(await freshness(feeds.small, record, changes));

  const idle: Feed[] = [];
  for (let at = 0; at * POLLS_EACH < polls; at++) idle.push(await feedOf(emptyCompany(`changes, idle ${at}`)));
  const groups = await groupsOf(stack, { gateway, ...services.running });
  return {
    catch_up_per_second: Math.round(median(rates)),
    fresh_p50_ms: Math.round(fresh.p50),
    fresh_p99_ms: Math.round(fresh.p99),
    idle_polls_cores: rounded(await idleCores(idle, groups, seconds), 3),
  };
}

type Options = BenchmarkOptions<'jobs' | 'rounds' | 'changes' | 'polls' | 'seconds'>;

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

/** Cores that the polls take, once they are spread over the time for which they wait. */
async function idleCores(feeds: readonly Feed[], groups: Groups, seconds: number): Promise<number> {
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
