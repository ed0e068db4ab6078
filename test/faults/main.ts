// npm run test:faults: checks writes and webhooks while processes are killed, and that these checks find bugs inserted on purpose.
import { parseArgs } from 'node:util';
import { Problem, runMain, say } from '@truckroll/local-stack';
import { seededPart } from './parts/seeded.ts';
import { webhooksPart } from './parts/webhooks.ts';
import { writesPart } from './parts/writes.ts';

const HELP = `npm run test:faults -- [options]

  --only <parts>      of writes,seeded,webhooks; all unless given
  --writes <count>    scheduling writes that are acknowledged at least: 3000
  --rounds <count>    how often each process and server is hit during a run: 3
  --clients <count>   clients that write at once: 24
  --events <count>    events for webhooks, without faults and again with them: 10000
  --servers <count>   1 PostgreSQL for all services, or 4, each of which is killed: 1; for writes and webhooks
  --pooled            PgBouncer in transaction mode before PostgreSQL, and killed as well; for writes
  --seed <number>     what clients and faults do follows from it, though not the moment at which it meets: random

Starts the system as npm start does, with servers of its own, and kills each part of it by SIGKILL while clients use it.
Every answer that clients received is then compared with what is stored and published. Ends with 1 when anything
contradicts, or when a bug that was put in on purpose was not found.
`;
const PARTS = { writes: writesPart, seeded: seededPart, webhooks: webhooksPart };

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: Object.keys(PARTS).join() },
    writes: { type: 'string', default: '3000' },
    rounds: { type: 'string', default: '3' },
    clients: { type: 'string', default: '24' },
    events: { type: 'string', default: '10000' },
    servers: { type: 'string', default: '1' },
    pooled: { type: 'boolean', default: false },
    seed: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

await runMain(async () => {
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (!['1', '4'].includes(values.servers)) throw new Problem('--servers takes 1 or 4.');
  if (values.servers === '4' && values.pooled) throw new Problem('--pooled stands before one server: leave out --servers.');
  const options = {
    writes: wholeNumber('writes'),
    rounds: wholeNumber('rounds'),
    clients: wholeNumber('clients'),
    events: wholeNumber('events'),
    pooled: values.pooled,
    separate: values.servers === '4',
    seed: values.seed === undefined ? Math.floor(Math.random() * 2 ** 32) : wholeNumber('seed'),
    say,
  };
  say(`seed ${options.seed}`);
  const figures: Record<string, number> = { seed: options.seed };
  let failed = 0;
  for (const name of values.only.split(',')) {
    const part = PARTS[name as keyof typeof PARTS] as (typeof PARTS)[keyof typeof PARTS] | undefined;
    if (part === undefined) throw new Problem(`--only takes ${Object.keys(PARTS).join(', ')}, not ${name}.`);
    const result = await part(options);
    Object.assign(figures, result.figures);
    if (!result.passed) failed += 1;
  }
  process.stdout.write(`${failed === 0 ? 'passed' : `${failed} parts failed`}\nfigures: ${JSON.stringify(figures)}\n`);
  return failed === 0 ? 0 : 1;
});

function wholeNumber(name: 'writes' | 'rounds' | 'clients' | 'events' | 'seed'): number {
  const number = Number(values[name]);
  if (!Number.isSafeInteger(number) || number < 0) throw new Problem(`--${name} takes a whole number.`);
  return number;
}
