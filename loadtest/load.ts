// npm run load: k6 against the whole system, judged by loadtest/slo.json.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Problem, runMain, say } from '@truckroll/local-stack';
import type { TestName } from './k6/workloads/plan.ts';
import type { Slo } from './k6/workloads/thresholds.ts';
import { HELP, readOptions, type Options } from './load/arguments.ts';
import { besideFlood } from './load/beside.ts';
import { capacityText, measureCapacity, type Capacity } from './load/capacity.ts';
import { FOLDER, requireK6 } from './load/k6.ts';
import { machineFacts, spinCheck } from './load/machine.ts';
import { startOwnSystem, type Target } from './load/own-system.ts';
import { measureOverload } from './load/overload.ts';
import { textOf, verdictOf } from './load/report.ts';
import { runTest, type Session } from './load/session.ts';
import { stallCheck } from './load/stall-check.ts';

const RESULTS = join(FOLDER, 'results');
const EXIT = { pass: 0, fail: 1, void: 2 };
/** Default knee: mixed requests a second that one core of a busy machine handles (docs/how-to/scale.md, Cores). */
const KNEE = 160;
const WARM_UP = { rate: 120, seconds: 40 };

await runMain(async () => {
  const options = readOptions(process.argv.slice(2), process.env);
  if (options === 'help') {
    process.stdout.write(HELP);
    return 0;
  }
  const k6 = requireK6();
  mkdirSync(RESULTS, { recursive: true });
  const judged = options.what !== 'smoke';
  // Measured before we start anything: the other processes will use as much during the run.
  const spin = judged ? [await spinCheck()] : [];
  const stallP99 = judged ? await stallCheck(k6) : undefined;
  const target = options.baseUrl === undefined ? await startOwnSystem(options) : givenTarget(options.baseUrl);
  try {
    const slo = JSON.parse(readFileSync(join(import.meta.dirname, 'slo.json'), 'utf8')) as Slo;
    const session: Session = { k6, target, slo, pinned: options.pinned, spin, stallP99 };
    if (judged && target.system !== undefined) await warmUp(session, options);
    return await run(session, options);
  } finally {
    await target.system?.close();
  }
});

/** Lets V8 compile the hot code and PostgreSQL read its pages before anything is measured. */
async function warmUp(session: Session, { what, only }: Options): Promise<void> {
  say(`warming up for ${WARM_UP.seconds} s …`);
  // The `mixed` subject of capacity uses every scenario.
  await runTest(session, { test: 'average', ...WARM_UP, only: what === 'capacity' ? undefined : only });
}

async function run(session: Session, options: Options): Promise<number> {
  const { what, rate = KNEE, only } = options;
  switch (what) {
    case 'capacity':
      return capacity(session, options);
    case 'overload':
      return study(session, what, await measureOverload(session, options));
    case 'flood':
      return study(session, what, await besideFlood(session, 2 * rate, only));
    default:
      return test(session, options, what);
  }
}

async function capacity(session: Session, options: Options): Promise<number> {
  const found: Capacity[] = [];
  const facts = factsOf(session);
  const agree = await measureCapacity(session, options, (one) => {
    found.push(one);
    process.stdout.write(`${capacityText(one)}\n`);
    keep('capacity', { ...facts, found });
  });
  return agree ? EXIT.pass : EXIT.fail;
}

function study(session: Session, what: string, figures: object): number {
  keep(what, { ...factsOf(session), ...figures });
  process.stdout.write(`figures: ${JSON.stringify({ ...figures, watched: undefined })}\n`);
  return EXIT.pass;
}

async function test(session: Session, { rate, seconds, only, baseUrl }: Options, name: TestName): Promise<number> {
  const outcome = await runTest(session, { test: name, rate, seconds, only, shown: true });
  const spin = baseUrl === undefined || session.spin.length === 0 ? session.spin : [...session.spin, await spinCheck()];
  const result = { test: name, ...factsOf(session), ...outcome, spin };
  process.stdout.write(textOf(outcome));
  keep(name, result);
  const verdict = verdictOf(result);
  process.stdout.write(`${name}: ${verdict}\n`);
  return EXIT[verdict];
}

function factsOf({ k6, pinned, spin, stallP99 }: Session) {
  return { at: new Date().toISOString(), machine: machineFacts(k6, pinned), spin, stallP99 };
}

function keep(name: string, result: { readonly at: string } & Readonly<Record<string, unknown>>): void {
  const file = join(RESULTS, `${name}-${result.at.replace(/[:.]/g, '-')}.json`);
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
  say(file);
}

function givenTarget(baseUrl: string): Target {
  const { API_KEY, API_KEY_HUGE, API_KEY_EMPTY, USER_TOKEN } = process.env;
  if (API_KEY === undefined) throw new Problem('API_KEY is missing: BASE_URL is asked with the key of a company that may be written to.');
  return { env: { BASE_URL: baseUrl, API_KEY, API_KEY_HUGE, API_KEY_EMPTY, USER_TOKEN }, groups: {} };
}
