// npm run bench:imports: time of an import until all derived data is readable, compared with COPY.
import { parseArgs } from 'node:util';
import { measureMemory, measureWhole } from './imports/whole.ts';
import { World } from './imports/world.ts';
import { runBenchmark } from './system/benchmark.ts';
import { withClient } from './system/postgres.ts';

const HELP = `npm run bench:imports -- [--only whole|memory] [--jobs 5000] [--rounds 5] [--companies 4]

whole   one company's payments, then its invoices, which is the most expensive order, from the first line until everything can be read: stored,
        acknowledged by Kafka, and applied by reporting. Compared with unchecked COPY of the rows that this has left in billing and reporting, from
        files, into tables with the same columns and indexes. Then --companies at once, compared with as many COPYs. Medians of --rounds rounds in turn.
memory  peak resident memory of the services, whose heaps are bounded as the chart bounds them: importing ten times --jobs ÷ importing --jobs
`;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    jobs: { type: 'string', default: '5000' },
    rounds: { type: 'string', default: '5' },
    companies: { type: 'string', default: '4' },
    help: { type: 'boolean', default: false },
  },
});
const { only, jobs, rounds, companies } = options;

await runBenchmark({
  help: HELP,
  asked: options.help,
  database: 'truckroll_imports',
  run: (stack) =>
    withClient(stack, async (client) => {
      const world = await World.start(stack, client);
      try {
        return {
          ...(only === 'memory' ? {} : await measureWhole(stack, client, world, { jobs: Number(jobs), rounds: Number(rounds), companies: Number(companies) })),
          ...(only === 'whole' ? {} : await measureMemory(world, Number(jobs))),
        };
      } finally {
        await world.stop();
      }
    }),
});
