// npm run bench:webhooks: how fast webhooks are delivered, and how dead or hanging endpoints affect the others.
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { say } from '@truckroll/local-stack';
import { cpuText, perEach, withCpu } from './measure/cpu.ts';
import { latencyText, type Latency } from './measure/latency.ts';
import { rounded } from './measure/report.ts';
import { inTurn, median, medianRatio } from './measure/turns.ts';
import { runBenchmark, type BenchmarkOptions, type Figures } from './system/benchmark.ts';
import type { Stack } from './system/stack.ts';
import { drainBacklog } from './webhooks/backlog.ts';
import { filterMicroseconds } from './webhooks/filters.ts';
import { measureIntake, measureStream } from './webhooks/intake.ts';
import { startSinks, type Sinks } from './webhooks/sinks.ts';
import { DATABASE, createCompany, startWebhooks, type Endpoint } from './webhooks/system.ts';

const HELP = `npm run bench:webhooks -- [--rounds 3] [--seconds 20] [--rate 200] [--events 20000] [--quick] [--only backlog|calls|dead|slow|filters]

Sends webhooks to receivers on this machine.
backlog  --events as fast as possible, from scheduling's outbox until every event was answered 2xx and its attempt is stored
calls    --events service requests, recorded by one call each, by 64 callers
dead     --rate service requests a second to 50 endpoints: all of them healthy, in turn with 10 that refuse connections or never answer
slow     the same in turn with 10 of one company that answer after 10 s, in two rounds more. The same 40 healthy ones are measured in all.
filters  processor time of an endpoint's filter of 20 conditions for an event, reading the event included
--quick runs one short round: for developing only.
`;
/** Endpoints whose receipts are measured, and the others, a fifth of all. */
const MEASURED = 40;
const OTHERS = 10;
/** p99 varies a lot, so the slow company gets more rounds. */
const MORE_SLOW_ROUNDS = 2;
const WARM_UP = { seconds: 3, events: 1000 };

await runBenchmark({
  help: HELP,
  numbers: { rounds: [3, 1], seconds: [20, 5], rate: 200, events: [20_000, 3000] },
  parts: ['backlog', 'calls', 'dead', 'slow', 'filters'],
  database: () => DATABASE,
  async run(stack, options) {
    const sinks = await startSinks();
    return await benchmark(stack, sinks, options).finally(() => sinks.stop());
  },
});

type Options = BenchmarkOptions<'rounds' | 'seconds' | 'rate' | 'events', 'backlog' | 'calls' | 'dead' | 'slow' | 'filters'>;

async function benchmark(stack: Stack, sinks: Sinks, { rounds, seconds, rate, events, quick, only }: Options): Promise<Figures> {
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
  async function measured<T>(name: string, count: number, work: () => Promise<T>, text: (result: T) => string): Promise<T> {
    const { result, cpu } = await withCpu(groups, work);
    say(`${name}: ${text(result)} (CPU ms per event: ${cpuText(perEach(cpu, count))})`);
    return result;
  }
  const stream = (others: readonly Endpoint[], lasts = seconds) => measureStream({ intake, sinks, measured: healthy, others, rate, seconds: lasts });
  const pairs = (name: string, others: readonly Endpoint[], count: number): Promise<Record<'alone' | 'beside', Latency[]>> =>
    inTurn(count, {
      alone: () => measured('all endpoints healthy', rate * seconds, () => stream(uncounted), latencyText),
      beside: async () => {
        await toggle(others, true);
        try {
          return await measured(name, rate * seconds, () => stream(others), latencyText);
        } finally {
          await toggle(others, false);
        }
      },
    });

  say('Warming up …');
  await stream(uncounted, WARM_UP.seconds);
  await drainBacklog(database, healthy, sinks, WARM_UP.events);
  const figures: Figures = {};
  const wanted = (part: Options['only']): boolean => only === undefined || only === part;
  const perSecond = (value: number): string => `${value.toFixed(0)}/s`;
  const rateOf = async (name: string, work: () => Promise<number>): Promise<number> => {
    const { rates } = await inTurn(rounds, { rates: () => measured(name, events, work, perSecond) });
    return Math.round(median(rates));
  };
  if (wanted('backlog')) figures['events_per_second'] = await rateOf('backlog', () => drainBacklog(database, healthy, sinks, events));
  if (wanted('calls')) figures['calls_per_second'] = await rateOf('calls', () => measureIntake(intake, healthy, sinks, events));
  if (wanted('dead')) {
    const { alone, beside } = await pairs('a fifth dead or hanging', bad, rounds);
    figures['receipt_p50_ms'] = rounded(median(alone.map(({ p50 }) => p50)), 1);
    figures['receipt_p99_ms'] = rounded(median(alone.map(({ p99 }) => p99)), 1);
    figures['noisy_p99_ratio'] = rounded(median(beside.map(({ p99 }) => p99)) / median(alone.map(({ p99 }) => p99)));
  }
  if (wanted('slow')) {
    const { alone, beside } = await pairs('ten endpoints of a company take 10 s', slow, quick ? 1 : rounds + MORE_SLOW_ROUNDS);
    figures['noisy_slow_ratio'] = rounded(medianRatio(beside, alone, ({ p99 }) => p99));
  }
  if (wanted('filters')) figures['filter_us'] = rounded(filterMicroseconds());
  await database.close();
  return figures;
}
