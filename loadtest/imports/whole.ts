// Times an import until all derived data is readable, and COPY of the rows it leaves.
import { say } from '@truckroll/local-stack';
import type pg from 'pg';
import { cpuText, perEach, withCpu } from '../measure/cpu.ts';
import { rounded } from '../measure/report.ts';
import { inTurn, median } from '../measure/turns.ts';
import { groupsOf } from '../system/programs.ts';
import type { Figures } from '../system/benchmark.ts';
import type { Stack } from '../system/stack.ts';
import { copySameRows } from './same-rows.ts';
import type { Company, World } from './world.ts';

interface WholeOptions {
  readonly jobs: number;
  readonly rounds: number;
  readonly companies: number;
}

export async function measureWhole(stack: Stack, client: pg.Client, world: World, { jobs, rounds, companies }: WholeOptions): Promise<Figures> {
  const { billing, reporting } = world.services.running;
  const groups = await groupsOf(stack, { billing, reporting });
  const run = async (count: number) => {
    const all: Company[] = [];
    for (let n = 0; n < count; n++) all.push(await world.company(Math.ceil(jobs / count)));
    await client.query('checkpoint');
    const records = all.reduce((sum, company) => sum + company.records, 0);
    const { result: seconds, cpu } = await withCpu(groups, () => world.store(all));
    const copied = await copySameRows(
      stack.databaseUrl,
      all.map(({ id }) => id),
    );
    const round = { ratio: copied / seconds, perSecond: records / seconds, copiedPerSecond: records / copied, cpu: perEach(cpu, records) };
    const rates = `${Math.round(round.perSecond)} records a second, COPY ${Math.round(round.copiedPerSecond)}, ${round.ratio.toFixed(3)}`;
    say(`${count} companies, ${records} records: ${rates}; CPU ms each: ${cpuText(round.cpu)}`);
    return round;
  };
  await run(1);
  const { one, several } = await inTurn(rounds, { one: () => run(1), several: () => run(companies) });
  const of = (list: typeof one, pick: (round: (typeof one)[number]) => number): number => median(list.map(pick));
  const cpu = Object.keys(groups).map(
    (name) =>
      [
        `import_cpu_ms_${name.toLowerCase()}`,
        rounded(
          of(one, (round) => round.cpu[name] ?? NaN),
          3,
        ),
      ] as const,
  );
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
