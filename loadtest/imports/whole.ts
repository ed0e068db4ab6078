// Times an import until all derived data is readable, and COPY of the rows it leaves.
import { say } from '@truckroll/local-stack';
import type pg from 'pg';
import { perEach, withCpu, cpuText, type CpuMs, type Groups } from '../measure/cpu.ts';
import { rounded } from '../measure/report.ts';
import { median } from '../measure/rounds.ts';
import { postgresPid } from '../system/postgres.ts';
import type { Stack } from '../system/stack.ts';
import { residentPeak } from './memory.ts';
import { copySameRows } from './same-rows.ts';
import { World, type Company } from './world.ts';

export interface WholeOptions {
  readonly jobs: number;
  readonly rounds: number;
  readonly companies: number;
  readonly whole: boolean;
  readonly memory: boolean;
}

interface Round {
  /** Seconds of COPY ÷ seconds of the import. */
  readonly ratio: number;
  readonly perSecond: number;
  readonly copiedPerSecond: number;
  readonly cpu: CpuMs;
}

const TEN = 10;
/** Imports before memory is measured: services that have just started grow whatever they do. */
const WARMING = 2;

export async function whole(stack: Stack, client: pg.Client, options: WholeOptions): Promise<Record<string, number>> {
  const world = await World.start(stack, client);
  const groups: Groups = {
    billing: [world.services.running.billing.pid],
    reporting: [world.services.running.reporting.pid],
    PostgreSQL: [await postgresPid(stack)],
    Kafka: [stack.pidOf('kafka') ?? 0],
  };
  try {
    const figures = options.whole ? await throughput(stack, client, world, groups, options) : {};
    return { ...figures, ...(options.memory ? await memory(world, options.jobs) : {}) };
  } finally {
    await world.stop();
  }
}

async function throughput(
  stack: Stack,
  client: pg.Client,
  world: World,
  groups: Groups,
  { jobs, rounds, companies }: WholeOptions,
): Promise<Record<string, number>> {
  const one: Round[] = [];
  const several: Round[] = [];
  await round(stack, client, world, groups, [await world.company(jobs)]);
  for (let i = 0; i < rounds; i += 1) {
    one.push(await round(stack, client, world, groups, [await world.company(jobs)]));
    const beside: Company[] = [];
    for (let n = 0; n < companies; n += 1) beside.push(await world.company(Math.ceil(jobs / companies)));
    several.push(await round(stack, client, world, groups, beside));
  }
  const of = (list: readonly Round[], pick: (round: Round) => number): number => median(list.map(pick));
  const cpu = Object.keys(groups).map((name) => [
    `import_cpu_ms_${name.toLowerCase()}`,
    rounded(
      of(one, (each) => each.cpu[name] ?? NaN),
      3,
    ),
  ]);
  return {
    import_by_copy: rounded(
      of(one, ({ ratio }) => ratio),
      3,
    ),
    import_by_copy_companies: rounded(
      of(several, ({ ratio }) => ratio),
      3,
    ),
    whole_records_per_second: Math.round(of(one, ({ perSecond }) => perSecond)),
    whole_records_per_second_companies: Math.round(of(several, ({ perSecond }) => perSecond)),
    copied_records_per_second: Math.round(of(one, ({ copiedPerSecond }) => copiedPerSecond)),
    ...Object.fromEntries(cpu),
  };
}

async function round(stack: Stack, client: pg.Client, world: World, groups: Groups, companies: readonly Company[]): Promise<Round> {
  await client.query('checkpoint');
  const records = companies.reduce((sum, company) => sum + company.records, 0);
  const { result: seconds, cpu } = await withCpu(groups, () => world.store(companies));
  const copied = await copySameRows(
    stack.databaseUrl,
    companies.map(({ id }) => id),
  );
  const each = perEach(cpu, records);
  say(
    `${companies.length} × ${companies[0]?.records} records: ${Math.round(records / seconds)} a second, COPY ${Math.round(records / copied)}, ` +
      `${(copied / seconds).toFixed(3)}; ms each: ${cpuText(each)}`,
  );
  return { ratio: copied / seconds, perSecond: records / seconds, copiedPerSecond: records / copied, cpu: each };
}

async function memory(world: World, jobs: number): Promise<Record<string, number>> {
  const { billing, reporting } = world.services.running;
  const pids = { billing: billing.pid, reporting: reporting.pid };
  const peaks: Record<string, number>[] = [];
  for (let i = 0; i < WARMING; i += 1) await world.store([await world.company(jobs)]);
  for (const size of [jobs, TEN * jobs]) {
    const company = await world.company(size);
    peaks.push(await residentPeak(pids, () => world.store([company])));
  }
  const [few = {}, many = {}] = peaks;
  return Object.fromEntries(
    Object.keys(pids).flatMap((name) => [
      [`memory_mb_${name}`, Math.round(many[name]!)],
      [`memory_growth_${name}`, rounded(many[name]! / few[name]!)],
    ]),
  );
}
