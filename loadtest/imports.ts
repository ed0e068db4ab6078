// npm run bench:imports: time of an import until all derived data is readable, compared with COPY.
import { parseArgs } from 'node:util';
import pg from 'pg';
import { stored } from './imports/stored.ts';
import { whole } from './imports/whole.ts';
import { runBenchmark } from './system/benchmark.ts';

const HELP = `npm run bench:imports -- [--only whole|memory|stored] [--jobs 5000] [--rounds 5] [--companies 4] [--invoices 200000]

whole   one company's payments, then its invoices, which is the dearest order: every invoice is derived with payments that are there, and its
        job's financials and all sums with it. From the first line until everything can be read: stored, acknowledged by Kafka, and applied
        by reporting. Beside it, unchecked COPY of the very rows that this has left in billing and reporting, into tables with the same
        columns and indexes, from files. Then --companies at once, against as many COPYs at once. Medians of --rounds rounds in turn.
memory  resident memory of the services, whose heaps are bounded as the chart bounds them, while ten times --jobs are stored, beside that
        while --jobs are, after --jobs were stored twice
stored  --invoices as documents and as rows of normalised tables: processor time, log and room (docs/adr/0001)
`;
const DATABASE = 'truckroll_imports';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    jobs: { type: 'string', default: '5000' },
    rounds: { type: 'string', default: '5' },
    companies: { type: 'string', default: '4' },
    invoices: { type: 'string', default: '200000' },
    help: { type: 'boolean', default: false },
  },
});

await runBenchmark({
  help: HELP,
  asked: options.help,
  database: DATABASE,
  run: async (stack) => {
    const client = new pg.Client({ connectionString: stack.databaseUrl });
    await client.connect();
    const asked = (part: string): boolean => options.only === undefined || options.only === part;
    const parts = { whole: asked('whole'), memory: asked('memory') };
    try {
      return {
        ...(parts.whole || parts.memory
          ? await whole(stack, client, { jobs: Number(options.jobs), rounds: Number(options.rounds), companies: Number(options.companies), ...parts })
          : {}),
        ...(asked('stored') ? await stored(stack, client, DATABASE, Number(options.invoices)) : {}),
      };
    } finally {
      await client.end();
    }
  },
});
