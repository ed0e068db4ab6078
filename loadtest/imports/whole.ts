// Times an import until all derived data is readable, and COPY of the rows it leaves; and measures the memory that an import takes.
import { say } from '@truckroll/local-stack';
import type pg from 'pg';
import { memoryOf } from '../load/usage.ts';
import { perEach, withCpu, cpuText } from '../measure/cpu.ts';
import { rounded } from '../measure/report.ts';
import { median } from '../measure/rounds.ts';
import { postgresPid } from '../system/postgres.ts';
import type { Stack } from '../system/stack.ts';
import { copySameRows } from './same-rows.ts';
import type { Company, World } from './world.ts';

interface WholeOptions {
  readonly jobs: number;
  readonly rounds: number;
  readonly companies: number;
}

/** Imports before memory is measured: services that have just started grow whatever they do. */
const WARMING = 2;
const MEMORY_LOOK_MS = 100;

export async function measureWhole(stack: Stack, client: pg.Client, world: World, { jobs, rounds, companies }: WholeOptions): Promise<Record<string, number>> {
  const { billing, reporting } = world.services.running;
  const groups = { billing: [billing.pid], reporting: [reporting.pid], PostgreSQL: [await postgresPid(stack)], Kafka: [stack.pidOf('kafka') ?? 0] };
  const run = async (count: number, each: number) => {
    const all: Company[] = [];
    for (let n = 0; n < count; n++) all.push(await world.company(each));
    await client.query('checkpoint');
    const records = all.reduce((sum, company) => sum + company.records, 0);
    const { result: seconds, cpu } = await withCpu(groups, () => world.store(all));
    const ids = all.map(({ id }) => id);
    const copied = await copySameRows(stack.databaseUrl, ids);
    const round = { ratio: copied / seconds, perSecond: records / seconds, copiedPerSecond: records / copied, cpu: perEach(cpu, records) };
    const rates = `${Math.round(round.perSecond)} records a second, COPY ${Math.round(round.copiedPerSecond)}, ${round.ratio.toFixed(3)}`;
    say(`${count} companies, ${records} records: ${rates}; CPU ms each: ${cpuText(round.cpu)}`);
    return round;
  };
  await run(1, jobs);
  const [one, several]: [Round[], Round[]] = [[], []];
  type Round = Awaited<ReturnType<typeof run>>;
  for (let round = 0; round < rounds; round++) {
    one.push(await run(1, jobs));
    several.push(await run(companies, Math.ceil(jobs / companies)));
  }
  const of = (list: readonly Round[], pick: (round: Round) => number): number => median(list.map(pick));
  const ratio = (round: Round): number => round.ratio;
  const perSecond = (round: Round): number => round.perSecond;
  const figures = {
    import_by_copy: rounded(of(one, ratio), 3),
    import_by_copy_companies: rounded(of(several, ratio), 3),
    whole_records_per_second: Math.round(of(one, perSecond)),
    whole_records_per_second_companies: Math.round(of(several, perSecond)),
    copied_records_per_second: Math.round(of(one, (round) => round.copiedPerSecond)),
  };
  const cpu = Object.keys(groups).map((name) => [
    `import_cpu_ms_${name.toLowerCase()}`,
    rounded(
      of(one, (round) => round.cpu[name] ?? NaN),
      3,
    ),
  ]);
  return { ...figures, ...(Object.fromEntries(cpu) as Record<string, number>) };
}

export async function measureMemory(world: World, jobs: number): Promise<Record<string, number>> {
  const { billing, reporting } = world.services.running;
  const pids = { billing: billing.pid, reporting: reporting.pid };
  for (let i = 0; i < WARMING; i++) await world.store([await world.company(jobs)]);
  const peaks: Record<string, number>[] = [];
  for (const size of [jobs, 10 * jobs]) {
    const company = await world.company(size);
    const peak: Record<string, number> = {};
    const look = (): void => {
      for (const [name, pid] of Object.entries(pids)) peak[name] = Math.max(peak[name] ?? 0, memoryOf(pid));
    };
    const timer = setInterval(look, MEMORY_LOOK_MS);
    await world.store([company]).finally(() => clearInterval(timer));
    look();
    peaks.push(peak);
  }
  const [few = {}, many = {}] = peaks;
  const figures: Record<string, number> = {};
  for (const name of Object.keys(pids)) {
    figures[`memory_mb_${name}`] = Math.round(many[name] as number);
    figures[`memory_growth_${name}`] = rounded((many[name] as number) / (few[name] as number));
  }
  return figures;
}
