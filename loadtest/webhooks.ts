// npm run bench:webhooks: how fast webhooks are delivered, and how dead or hanging endpoints affect the others.
import { parseArgs } from 'node:util';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { say } from '@truckroll/local-stack';
import { cpuText, perEach, withCpu, type Groups } from './measure/cpu.ts';
import { rounded } from './measure/report.ts';
import { median } from './measure/rounds.ts';
import { runBenchmark } from './system/benchmark.ts';
import type { Stack } from './system/stack.ts';
import { drainBacklog } from './webhooks/backlog.ts';
import { createCompany } from './webhooks/endpoints.ts';
import { measureIntake } from './webhooks/intake.ts';
import { startSinks, type Sinks } from './webhooks/sinks.ts';
import { measureStream, type Latency } from './webhooks/steady.ts';
import { DATABASE, FOLDER, startWebhooks } from './webhooks/system.ts';

const HELP = `npm run bench:webhooks -- [--rounds 3] [--seconds 20] [--rate 200] [--events 20000] [--quick] [--only slow|calls]

Sends webhooks to receivers on this machine: a backlog of --events as fast as it goes, from scheduling's outbox until every
event was answered with 2xx and its attempt is stored; and a stream of --rate service requests a second to 50 endpoints, of
which all are well or, in turn, 10 refuse connections or never answer, or 10 of one company answer 200 after 10 s. What is
measured are the same 40 in all. Between them, --events service requests are recorded by one call each as fast as 64 callers can.
--only slow measures the last of the streams alone, --only calls the calls and the stream whose endpoints are all well. --quick runs one short round: for developing only.
`;
/** Endpoints whose receipts are measured, and the others, a fifth of all. */
const MEASURED = 40;
const OTHERS = 10;
/** p99 varies a lot, so the slow company gets this many rounds. */
const SLOW_ROUNDS = 5;
const WARM_UP_SECONDS = 3;

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
  const rounds = options.only === 'slow' ? 0 : Number(options.rounds ?? (options.quick ? 1 : 3));
  const seconds = Number(options.seconds ?? (options.quick ? 5 : 20));
  const count = Number(options.events ?? (options.quick ? 3000 : 20_000));
  const rate = Number(options.rate);
  const { database, services, groups, create } = await startWebhooks(stack, sinks);
  const { urls } = sinks;
  const measured = await create(MEASURED, [urls.well]);
  const spare = await create(OTHERS, [urls.spare]);
  const bad = await create(OTHERS, [urls.dead, urls.hanging]);
  // Every event goes to all ten, which keeps each of them busy for a whole round.
  const slow = await createCompany(
    services.channels.integrations,
    Array.from({ length: OTHERS }, () => urls.slow),
  );
  const toggle = (enabled: boolean, endpoints = bad) => Promise.all(endpoints.map((endpoint) => endpoint.enable(enabled)));
  await toggle(false);
  await toggle(false, slow);
  const intake = services.channels.scheduling.client(IntakeServiceService);
  const stream = { intake, sinks, measured, others: spare, rate };

  say('Warming up …');
  await measureStream({ ...stream, seconds: WARM_UP_SECONDS });
  await drainBacklog(database, measured, sinks, 1000);
  const callsOnly = options.only === 'calls';
  const calls: number[] = [];
  const throughputs: number[] = [];
  const alone: Latency[] = [];
  const beside: Latency[] = [];
  for (let round = 1; round <= rounds; round++) {
    calls.push(
      await told(
        'one a call',
        groups,
        count,
        () => measureIntake(intake, measured, sinks, count),
        (perSecond) => `${perSecond.toFixed(0)} calls/s`,
      ),
    );
    if (!callsOnly)
      throughputs.push(
        await told(
          'backlog',
          groups,
          count,
          () => drainBacklog(database, measured, sinks, count),
          (perSecond) => `${perSecond.toFixed(0)} events/s`,
        ),
      );
    const quiet = () => told('all endpoints well', groups, rate * seconds, () => measureStream({ ...stream, seconds }), latencyText);
    const noisy = async () => {
      await toggle(true);
      const latency = await told('a fifth dead or hanging', groups, rate * seconds, () => measureStream({ ...stream, others: bad, seconds }), latencyText);
      await toggle(false);
      return latency;
    };
    if (round % 2 === 1) alone.push(await quiet());
    if (!callsOnly) beside.push(await noisy());
    if (round % 2 === 0) alone.push(await quiet());
  }
  const slowRatios: number[] = [];
  for (let round = 1; !callsOnly && round <= (options.quick ? 1 : SLOW_ROUNDS); round++) {
    const without = () => told('all endpoints well', groups, rate * seconds, () => measureStream({ ...stream, seconds }), latencyText);
    const withSlow = async () => {
      await toggle(true, slow);
      const latency = await told(
        'ten endpoints of a company take 10 s',
        groups,
        rate * seconds,
        () => measureStream({ ...stream, others: slow, seconds }),
        latencyText,
      );
      await toggle(false, slow);
      return latency;
    };
    const first = round % 2 === 1 ? await without() : undefined;
    const besideSlow = await withSlow();
    slowRatios.push(besideSlow.p99 / (first ?? (await without())).p99);
  }
  await database.close();
  const stated = {
    calls_per_second: Math.round(median(calls)),
    receipt_p50_ms: rounded(median(alone.map(({ p50 }) => p50)), 1),
    receipt_p99_ms: rounded(median(alone.map(({ p99 }) => p99)), 1),
  };
  if (callsOnly) return stated;
  const noisy_slow_ratio = rounded(median(slowRatios));
  if (options.only === 'slow') return { noisy_slow_ratio };
  return {
    events_per_second: Math.round(median(throughputs)),
    ...stated,
    noisy_slow_ratio,
    noisy_p99_ratio: rounded(median(beside.map(({ p99 }) => p99)) / median(alone.map(({ p99 }) => p99))),
  };
}

function latencyText({ p50, p99 }: Latency): string {
  return `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
}

/** Runs one measurement and reports its result and the CPU time per event. */
async function told<T>(name: string, groups: Groups, events: number, work: () => Promise<T>, text: (result: T) => string): Promise<T> {
  const { result, cpu } = await withCpu(groups, work);
  say(`${name}: ${text(result)} (CPU ms per event: ${cpuText(perEach(cpu, events))})`);
  return result;
}
