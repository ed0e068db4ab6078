// npm run bench:imports: time of an import until all derived data is readable, compared with COPY of the rows it leaves.
import { say } from '@truckroll/local-stack';
import type pg from 'pg';
import { copySameRows } from './imports/same-rows.ts';
import { startWorld, type Company } from './imports/world.ts';
import { cpuText, medianCpu, perEach, withCpu } from './measure/cpu.ts';
import { rounded } from './measure/report.ts';
import { inTurn, median } from './measure/turns.ts';
import { runBenchmark, type BenchmarkOptions, type Figures } from './system/benchmark.ts';
import { withClient } from './system/postgres.ts';
import { groupsOf } from './system/programs.ts';
import type { Stack } from './system/stack.ts';

const HELP = `npm run bench:imports -- [--jobs 5000] [--rounds 5] [--companies 4] [--quick]

One company's payments, then its invoices, which is the most expensive order, from the first line until everything can be read: stored,
acknowledged by Kafka, and applied by reporting. Compared with unchecked COPY of the rows that this has left in billing and reporting, from
files, into tables with the same columns and indexes. Then --companies at once, compared with as many COPYs. Medians of --rounds rounds in turn.
--quick runs one round of little data: for developing only.
`;

await runBenchmark({
  help: HELP,
  numbers: { jobs: [5000, 300], rounds: [5, 1], companies: 4 },
  database: () => 'truckroll_imports',
  run: (stack, options) => withClient(stack, (client) => benchmark(stack, client, options)),
});

type Options = BenchmarkOptions<'jobs' | 'rounds' | 'companies'>;

async function benchmark(stack: Stack, client: pg.Client, { jobs, rounds, companies }: Options): Promise<Figures> {
  const world = await startWorld(stack, client);
  const { billing, reporting } = world.services.running;
  const groups = await groupsOf(stack, { billing, reporting });
  const run = async (count: number) => {
    const all: Company[] = [];
    for (let n = 0; n < count; n++) all.push(await world.company(Math.ceil(jobs / count)));
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
  await run(1);
  const { one, several } = await inTurn(rounds, { one: () => run(1), several: () => run(companies) });
  say(`CPU ms of a record of one company: ${cpuText(medianCpu(one))}`);
  return {
    import_by_copy: rounded(median(one.map(({ ratio }) => ratio)), 3),
    import_by_copy_companies: rounded(median(several.map(({ ratio }) => ratio)), 3),
    whole_records_per_second: Math.round(median(one.map(({ perSecond }) => perSecond))),
    whole_records_per_second_companies: Math.round(median(several.map(({ perSecond }) => perSecond))),
    copied_records_per_second: Math.round(median(one.map(({ copiedPerSecond }) => copiedPerSecond))),
  };
}
