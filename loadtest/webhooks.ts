// npm run bench:webhooks: how fast webhooks are delivered, and how dead or hanging endpoints affect the others.
import { parseArgs } from 'node:util';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { say } from '@truckroll/local-stack';
import { cpuText, perEach, withCpu } from './measure/cpu.ts';
import { latencyText, type Latency } from './measure/latency.ts';
import { rounded } from './measure/report.ts';
import { median } from './measure/rounds.ts';
import { runBenchmark } from './system/benchmark.ts';
import type { Stack } from './system/stack.ts';
import { drainBacklog } from './webhooks/backlog.ts';
import { createCompany, type Endpoint } from './webhooks/endpoints.ts';
import { filterMicroseconds } from './webhooks/filters.ts';
import { measureIntake, measureStream } from './webhooks/intake.ts';
import { startSinks, type Sinks } from './webhooks/sinks.ts';
import { DATABASE, FOLDER, startWebhooks } from './webhooks/system.ts';

const HELP = `npm run bench:webhooks -- [--rounds 3] [--seconds 20] [--rate 200] [--events 20000] [--quick] [--only slow|calls]

Sends webhooks to receivers on this machine.
backlog  --events as fast as possible, from scheduling's outbox until every event was answered 2xx and its attempt is stored
calls    --events service requests, recorded by one call each, by 64 callers
streams  --rate service requests a second to 50 endpoints: all of them healthy; or 10 that refuse connections or never answer; or 10 of one
         company that answer after 10 s. The same 40 healthy ones are measured in all.
filters  processor time of an endpoint's filter of 20 conditions for an event, reading the event included
--only slow measures the last stream alone, --only calls the calls and the healthy stream. --quick runs one short round: for developing only.
`;
/** Endpoints whose receipts are measured, and the others, a fifth of all. */
const MEASURED = 40;
const OTHERS = 10;
/** p99 varies a lot, so the slow company gets this many rounds. */
const SLOW_ROUNDS = 5;
const WARM_UP = { seconds: 3, events: 1000 };

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    rate: { type: 'string', default: '200' },
    events: { type: 'string' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

await runBenchmark({
  help: HELP,
  asked: options.help,
  database: DATABASE,
  folder: FOLDER,
  async run(stack) {
    const sinks = await startSinks();
    return await benchmark(stack, sinks).finally(() => sinks.stop());
  },
});

async function benchmark(stack: Stack, sinks: Sinks): Promise<Record<string, number>> {
  const { quick, only } = options;
  const seconds = Number(options.seconds ?? (quick ? 5 : 20));
  const count = Number(options.events ?? (quick ? 3000 : 20_000));
  const rate = Number(options.rate);
  const { database, services, groups, create } = await startWebhooks(stack, sinks);
  const { urls } = sinks;
  const healthy = await create(MEASURED, [urls.well]);
  const uncounted = await create(OTHERS, [urls.uncounted]);
  const bad = await create(OTHERS, [urls.dead, urls.hanging]);
  // Every event goes to all ten, which keeps each of them busy for a whole round.
  const slow = await createCompany(services.channels.integrations, new Array<string>(OTHERS).fill(urls.slow));
  const toggle = (endpoints: readonly Endpoint[], enabled: boolean) => Promise.all(endpoints.map((endpoint) => endpoint.enable(enabled)));
  for (const endpoints of [bad, slow]) await toggle(endpoints, false);
  const intake = services.channels.scheduling.client(IntakeServiceService);

  /** Runs one measurement and reports its result and the CPU time per event. */
  async function measured<T>(name: string, events: number, work: () => Promise<T>, text: (result: T) => string): Promise<T> {
    const { result, cpu } = await withCpu(groups, work);
    say(`${name}: ${text(result)} (CPU ms per event: ${cpuText(perEach(cpu, events))})`);
    return result;
  }
  const perSecond = (value: number): string => `${value.toFixed(0)}/s`;
  const stream = (others: readonly Endpoint[], lasts = seconds) => measureStream({ intake, sinks, measured: healthy, others, rate, seconds: lasts });
  const quiet = () => measured('all endpoints healthy', rate * seconds, () => stream(uncounted), latencyText);
  const disturbed = async (name: string, others: readonly Endpoint[]): Promise<Latency> => {
    await toggle(others, true);
    return await measured(name, rate * seconds, () => stream(others), latencyText).finally(() => toggle(others, false));
  };
  /** Measures both in turn, the other one first in every second round. */
  const pair = async (round: number, name: string, others: readonly Endpoint[]): Promise<Pair> => {
    if (round % 2 === 1) return { alone: await quiet(), beside: await disturbed(name, others) };
    const beside = await disturbed(name, others);
    return { alone: await quiet(), beside };
  };

  say('Warming up …');
  await stream(uncounted, WARM_UP.seconds);
  await drainBacklog(database, healthy, sinks, WARM_UP.events);
  const figures: Record<string, number> = {};
  const [calls, throughputs, pairs]: [number[], number[], Pair[]] = [[], [], []];
  const rounds = Number(options.rounds ?? (quick ? 1 : 3));
  for (let round = 1; only !== 'slow' && round <= rounds; round++) {
    calls.push(await measured('calls', count, () => measureIntake(intake, healthy, sinks, count), perSecond));
    if (only === 'calls') {
      const alone = await quiet();
      pairs.push({ alone, beside: alone });
      continue;
    }
    throughputs.push(await measured('backlog', count, () => drainBacklog(database, healthy, sinks, count), perSecond));
    pairs.push(await pair(round, 'a fifth dead or hanging', bad));
  }
  if (only !== 'slow') {
    figures['calls_per_second'] = Math.round(median(calls));
    figures['receipt_p50_ms'] = rounded(median(pairs.map(({ alone }) => alone.p50)), 1);
    figures['receipt_p99_ms'] = rounded(median(pairs.map(({ alone }) => alone.p99)), 1);
  }
  if (only === undefined) {
    figures['filter_us'] = rounded(filterMicroseconds());
    say(`filter: ${figures['filter_us']} µs per event and endpoint`);
    figures['events_per_second'] = Math.round(median(throughputs));
    figures['noisy_p99_ratio'] = rounded(median(pairs.map(({ beside }) => beside.p99)) / median(pairs.map(({ alone }) => alone.p99)));
  }
  if (only !== 'calls') {
    const ratios: number[] = [];
    for (let round = 1; round <= (quick ? 1 : SLOW_ROUNDS); round++) {
      const { alone, beside } = await pair(round, 'ten endpoints of a company take 10 s', slow);
      ratios.push(beside.p99 / alone.p99);
    }
    figures['noisy_slow_ratio'] = rounded(median(ratios));
  }
  await database.close();
  return figures;
}

interface Pair {
  readonly alone: Latency;
  readonly beside: Latency;
}
