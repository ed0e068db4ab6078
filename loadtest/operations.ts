// npm run bench:operations: the latency of each operation alone, and what PostgreSQL does for the slowest.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT, runMain, say } from '@truckroll/local-stack';
import { SCENARIOS } from './k6/scenarios/index.ts';
import { discover, tidy } from './k6/scenarios/world.ts';
import { nodeClient } from './load/node-client.ts';
import { startOwnSystem, type OwnSystem } from './load/own-system.ts';
import { rounded } from './measure/report.ts';
import { readSubjects, scenarioSubject, type OpenApi, type Subject } from './operations/subjects.ts';
import { explaining } from './operations/plans.ts';
import { timesOf, type Time } from './operations/times.ts';

const HELP = `npm run bench:operations -- [--jobs 20000] [--times 40] [--slowest 10]

Sends every operation of the API that changes nothing, both writes and the management of endpoints, one request at a time, to a company of --jobs
jobs: lists with pages of 100, reports over its last year with each group. Prints the median of --times requests of each operation in its slowest
form, processor time by process, and for the --slowest of them the plan of the statement that took longest. Data is kept in .truckroll/load.
`;
const UNCOUNTED = 10;
const EXPLAINED = 5;

const { values: options } = parseArgs({
  options: {
    jobs: { type: 'string', default: '20000' },
    times: { type: 'string', default: '40' },
    slowest: { type: 'string', default: '10' },
    help: { type: 'boolean', default: false },
  },
});

await runMain(async () => {
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const target = await startOwnSystem({ jobs: Number(options.jobs), pinned: false });
  const system = target.system as OwnSystem;
  try {
    const client = nodeClient(target.env.BASE_URL);
    const huge = target.env.API_KEY_HUGE as string;
    const world = await discover(client.send, { usual: huge }, `operations-${Date.now()}`);
    const api = JSON.parse(readFileSync(join(ROOT, 'gateway/openapi.json'), 'utf8')) as OpenApi;
    const subjects: Subject[] = [
      ...(await readSubjects(api, client.send, huge, world.period)),
      scenarioSubject(SCENARIOS.write.run, client, world),
      // The user of these endpoints may belong to another company than the records.
      scenarioSubject(SCENARIOS.webhook.run, client, { ...world, userToken: target.env.USER_TOKEN as string }),
    ];
    const times: Time[] = [];
    for (const subject of subjects) times.push(...(await timesOf(subject, { groups: target.groups, times: Number(options.times), uncounted: UNCOUNTED })));
    const slowest = slowestForms(times).slice(0, Number(options.slowest));
    const plans = await explaining(system.stack, async (explained) => {
      const lines: string[] = [];
      for (const { subject, operation } of slowest) lines.push(await explained(subject, operation, EXPLAINED));
      return lines;
    });
    await tidy(client.send, world);
    print(slowest, plans);
    for (const fault of client.faults) say(fault);
    const [worst] = slowest;
    process.stdout.write(`figures: ${JSON.stringify({ slowest_ms: rounded(worst?.ms ?? NaN), operations: slowestForms(times).length })}\n`);
    return client.faults.length === 0 ? 0 : 1;
  } finally {
    await system.close();
  }
});

/** The slowest form of each operation, slowest first. */
function slowestForms(times: readonly Time[]): Time[] {
  const byOperation = Map.groupBy(times, ({ operation }) => operation);
  return [...byOperation.values()].map((forms) => forms.toSorted((a, b) => b.ms - a.ms)[0] as Time).toSorted((a, b) => b.ms - a.ms);
}

function print(slowest: readonly Time[], plans: readonly string[]): void {
  process.stdout.write('| Operation | median ms | p90 | processor ms | Plan of its longest statement |\n|---|---|---|---|---|\n');
  slowest.forEach(({ form, ms, p90, cpu }, at) => {
    const parts = Object.entries(cpu).filter(([, each]) => each >= 0.05);
    const text = parts.map(([name, each]) => `${name} ${each.toFixed(1)}`).join(', ');
    process.stdout.write(`| ${form} | ${ms.toFixed(1)} | ${p90.toFixed(1)} | ${text} | ${plans[at]} |\n`);
  });
}
