// npm run bench:writes: the two scheduling writes over HTTP, compared with the baseline, and the effect of a flood on another company.
import { parseArgs } from 'node:util';
import { Problem } from '@truckroll/local-stack';
import { rounded } from './measure/report.ts';
import { requireWrk } from './measure/wrk.ts';
import { runBenchmark } from './system/benchmark.ts';
import { postgresPid } from './system/postgres.ts';
import { startGateway, startServices } from './system/programs.ts';
import type { Stack } from './system/stack.ts';
import { measureNoise } from './writes/noisy.ts';
import { DATABASE, FOLDER, prepareWrites } from './writes/system.ts';
import { measureBesideUsual } from './writes/usual-service.ts';

const HELP = `npm run bench:writes -- [--rounds 5] [--seconds 10] [--quick] [--only noise|usual] [--before FOLDER]

usual  adds and removes technicians on 10,000 visits with 16 connections over HTTP, in turn with an Express process that gives the same
       guarantees (loadtest/baseline/writes), while no event is published; and with another checkout, which --before names
noise  two \`truckroll simulate --speed 600 --per-hour 600\` flood one company, and a reader of another company is measured with and without them
--quick runs one short round: for developing only.
`;

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    before: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

await runBenchmark({
  help: HELP,
  asked: options.help,
  database: DATABASE,
  folder: FOLDER,
  check() {
    if (options.only !== undefined && !['noise', 'usual'].includes(options.only))
      throw new Problem(`--only ${options.only} is not known: give noise or usual.`);
    requireWrk();
  },
  run: benchmark,
});

async function benchmark(stack: Stack): Promise<Record<string, number>> {
  const rounds = Number(options.rounds ?? (options.quick ? 1 : 5));
  const seconds = Number(options.seconds ?? (options.quick ? 4 : 10));
  const postgres = await postgresPid(stack);
  const start = async (checkout?: string) => {
    const services = await startServices(stack, ['integrations', 'scheduling'], {}, checkout);
    const gateway = await startGateway(stack, services, {}, checkout);
    const groups = {
      gateway: [gateway.pid],
      scheduling: [services.running.scheduling.pid],
      PostgreSQL: [postgres],
      Kafka: [stack.pidOf('kafka') ?? 0],
      Redis: [stack.pidOf('redis') ?? 0],
    };
    const stop = async (): Promise<void> => {
      await gateway.stop();
      await Promise.all([services.stop('scheduling'), services.stop('integrations')]);
    };
    return { services, gateway, groups, stop };
  };
  const figures: Record<string, number> = {};
  const system = await start();
  const { key, readerKey } = await prepareWrites(system.services);
  if (options.only !== 'usual') {
    const { ratio, unavailable, events } = await measureNoise({ stack, rounds, seconds, floodKey: key, readerKey, ...system });
    figures['noisy_company_ratio'] = rounded(ratio);
    figures['noisy_company_503'] = unavailable;
    figures['noisy_company_events_per_second'] = Math.round(events);
  }
  await system.stop();
  if (options.only !== 'noise') {
    const { usual, before, perSecond } = await measureBesideUsual({ stack, rounds, seconds, key, start, before: options.before, postgres });
    figures['writes_per_second'] = Math.round(perSecond);
    figures['write_throughput_usual'] = rounded(usual.throughput);
    figures['write_cpu_usual'] = rounded(usual.cpu);
    if (before !== undefined) Object.assign(figures, { write_throughput_before: rounded(before.throughput), write_cpu_before: rounded(before.cpu) });
  }
  return figures;
}
