// npm run bench:growth: how the cost of an operation grows with the size of the installation.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Problem, runMain } from '@truckroll/local-stack';
import { endpoints } from './growth/endpoints.ts';
import { tableOf, type Part, type Row } from './growth/part.ts';
import { polls } from './growth/polls.ts';
import { companies, invoices } from './growth/reads.ts';
import { requireWrk } from './measure/wrk.ts';
import { positive } from './system/benchmark.ts';

const PARTS: Readonly<Record<string, Part>> = { companies, invoices, endpoints, polls };

const HELP = `npm run bench:growth -- [--only ${Object.keys(PARTS).join('|')}] [--rounds 3] [--seconds 4] [--results FILE] [--quick]

Prints a table for each part, with medians of --rounds rounds of all sizes in turn, CPU time by process, and how many times the CPU time of
the smallest size that is.
companies  pages and details of invoices (16 connections, --seconds seconds) that 1 to 1,000 companies read, 50 invoices each
invoices   the same of one company with 10,000, 100,000 and 1,000,000 invoices; the first run makes them
endpoints  an event that goes to one of 1, 100 and 10,000 webhook endpoints, a hundred to a company, and a second without events
polls      a second in which 10, 100 and 1,000 polls of the change feed wait, twenty of a company, the gateway's memory, and the time
           from a write until the polls of its company are answered
--results writes every round to a file. --quick uses little data and one short round: for developing only.
`;

await runMain(async () => {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({ options: { only: text, rounds: text, seconds: text, results: text, quick: flag, help: flag } });
  const { quick, only } = values;
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (only !== undefined && !Object.hasOwn(PARTS, only)) throw new Problem(`--only ${only} is not known: give ${Object.keys(PARTS).join(', ')}.`);
  requireWrk();
  const options = { quick, rounds: positive('rounds', values.rounds) ?? (quick ? 1 : 3), seconds: positive('seconds', values.seconds) ?? (quick ? 1 : 4) };
  const all: Record<string, Row[]> = {};
  for (const [name, part] of Object.entries(PARTS)) {
    if (only !== undefined && only !== name) continue;
    all[name] = await part(options);
    process.stdout.write(`\n${name}\n${tableOf(all[name])}\n`);
  }
  const short = (_: string, value: unknown): unknown => (typeof value === 'number' ? Number(value.toPrecision(4)) : value);
  if (values.results !== undefined)
    writeFileSync(values.results, `${JSON.stringify({ rounds: options.rounds, seconds: options.seconds, ...all }, short, 1)}\n`);
  return 0;
});
