// npm run test:mixed: two adjacent releases side by side under load, in orders derived from a seed.
import { parseArgs } from 'node:util';
import { Problem, ROOT, runMain, say } from '@truckroll/local-stack';
import { keepEvidence } from '../faults/parts/evidence.ts';
import { describeViolations } from '../faults/parts/report.ts';
import { prepare } from '../faults/system/prepared.ts';
import { startReceiver } from '../faults/webhooks/receiver.ts';
import { addEventType, addFilter } from '../rollout/changes.ts';
import { Tree } from '../rollout/tree.ts';
import { checkImages, installRelease, lastRelease, releases } from '../support/releases.ts';
import { Fleet, type Folders } from './fleet.ts';
import { ORDERS, describePlan, planOf, type Stage } from './plan.ts';
import { runMixed } from './run.ts';

const HELP = `npm run test:mixed -- [options]

  --seed <number>     the order of everything follows from it: random
  --orders <count>    how many of the ${ORDERS} orders: all of them
  --no-alone          without each component alone
  --plan              only print what would be done

Starts two of every component of the last release (releases.json) on servers of its own, and brings them to the code as it is
and back, each component alone; then all of them in seeded orders, in each of which one component goes back by a release;
and then to that code with a filter and an event type more, and back. A new replica is ready before an old one drains.
Reads, writes and webhooks go on at a steady rate. Ends with 1 when any request was not served, a 503 included
(but for reports while release 1.3.0 makes its sums again), or when
what clients were answered, what is stored and what arrived at endpoints contradict each other. Before that, every component of
every release is bundled as deploy/images does it, and started.
`;
const LIMIT = 600;

const { values } = parseArgs({
  allowNegative: true,
  options: {
    seed: { type: 'string' },
    orders: { type: 'string', default: String(ORDERS) },
    alone: { type: 'boolean', default: true },
    plan: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

await runMain(async () => {
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 32) : wholeNumber('seed', 2 ** 32);
  const stages = planOf(seed, { alone: values.alone, orders: wholeNumber('orders', ORDERS) });
  process.stdout.write(`seed ${seed}: released is ${lastRelease.version}, two replicas of each component\n${describePlan(stages)}\n`);
  if (values.plan) return 0;

  for (const release of releases) {
    const components = checkImages(release, installRelease(release, say));
    say(`the images of release ${release.version} can be built: ${components.join(', ')}`);
  }
  const released = installRelease(lastRelease, say);
  const changed = new Tree();
  try {
    addFilter(changed);
    addEventType(changed);
    changed.generate();
    return await run({ released, head: ROOT, changed: changed.folder }, seed, stages);
  } finally {
    changed.remove();
  }
});

async function run(folders: Folders, seed: number, stages: readonly Stage[]): Promise<number> {
  const startedAt = performance.now();
  const receiver = await startReceiver();
  const prepared = await prepare(say, { WEBHOOK_ALLOWED_TARGETS: receiver.target });
  let fleet: Fleet | undefined;
  try {
    say(`starting two of each component of release ${lastRelease.version} …`);
    fleet = await Fleet.start(prepared, folders, 'released');
    const running = fleet;
    // 1.3.0 makes its sums again after each write that does not keep them, and no release after it keeps them (docs/adr/0021).
    const mayRefuseReports = (): boolean => lastRelease.version === '1.3.0' && running.runs('reporting', 'released');
    const result = await runMixed(fleet, receiver, { seed, stages, say, mayRefuseReports });
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const { failures, violations, counts } = result;
    say(describeViolations(violations));
    const passed = failures.length === 0 && violations.length === 0 && seconds <= LIMIT;
    if (!passed) say(`  kept in ${keepEvidence(fleet, 'mixed', result)}`);
    if (seconds > LIMIT) say(`  it took ${seconds} s, more than ${LIMIT} s`);
    const lost = violations.filter(({ kind }) => kind === 'lost').length;
    const figures = { seed, ...counts, failed: failures.length, lost, violations: violations.length, seconds };
    process.stdout.write(`${passed ? 'passed' : 'failed'}\nfigures: ${JSON.stringify(figures)}\n`);
    return passed ? 0 : 1;
  } finally {
    await fleet?.close();
    await prepared.close();
    await receiver.close();
  }
}

function wholeNumber(name: 'seed' | 'orders', most: number): number {
  const number = Number(values[name]);
  if (!Number.isSafeInteger(number) || number < 0 || number > most) throw new Problem(`--${name} takes a whole number up to ${most}.`);
  return number;
}
