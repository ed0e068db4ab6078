// npm run bench:imports: time of an import until all derived data is readable, compared with COPY.
import { measureWhole } from './imports/whole.ts';
import { World } from './imports/world.ts';
import { runBenchmark } from './system/benchmark.ts';
import { withClient } from './system/postgres.ts';

const HELP = `npm run bench:imports -- [--jobs 5000] [--rounds 5] [--companies 4] [--quick]

One company's payments, then its invoices, which is the most expensive order, from the first line until everything can be read: stored,
acknowledged by Kafka, and applied by reporting. Compared with unchecked COPY of the rows that this has left in billing and reporting, from
files, into tables with the same columns and indexes. Then --companies at once, compared with as many COPYs. Medians of --rounds rounds in turn.
--quick runs one round of little data: for developing only.
`;

await runBenchmark({
  help: HELP,
  numbers: { jobs: [5000, 300], rounds: [5, 1], companies: 4 },
  place: () => ({ database: 'truckroll_imports' }),
  run: (stack, options) =>
    withClient(stack, async (client) => {
      const world = await World.start(stack, client);
      return await measureWhole(stack, client, world, options).finally(() => world.stop());
    }),
});
