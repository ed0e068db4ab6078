// Finds the highest rate that one core sustains within the thresholds, of each operation and of the mixture. Repeats until two searches agree.
import { say } from '@truckroll/local-stack';
import type { ScenarioName } from '../k6/scenarios/index.ts';
import type { Options } from './arguments.ts';
import { cpuText } from '../measure/cpu.ts';
import { disagreement, findKnee } from './knee.ts';
import { runTest, type Ask, type Outcome, type Session } from './session.ts';
import { goodput } from './verdict.ts';

/** Rates at which the searches begin, in requests a second, of all scenarios together and of single ones. */
const STARTS = { mixed: 200, list: 400, detail: 800, filter: 300, report: 100, write: 100 };
const MOST = 6000;
/** Precision of one search. Two searches must agree within twice that. */
const WITHIN = 0.05;
const MOST_DISAGREEMENT = 0.1;
/** The first searches run while V8 still compiles. */
const MOST_SEARCHES = 4;
const SECONDS = 8;
const WARM_UP_SECONDS = 6;

export interface Capacity {
  readonly subject: string;
  /** Result of each search, in requests a second. */
  readonly knees: readonly number[];
  readonly agree: boolean;
  /** CPU time for each request at the last knee, in ms, by process. */
  readonly cpuMs: Readonly<Record<string, number>>;
  readonly p99: number;
}

/** Calls `known` after each subject, because the whole study takes long. Resolves to whether all searches agreed. */
export async function measureCapacity(session: Session, { only, seconds = SECONDS }: Options, known: (capacity: Capacity) => void): Promise<boolean> {
  let agree = true;
  for (const [name, start] of Object.entries(STARTS)) {
    if (only?.includes(name as ScenarioName) === false) continue;
    const capacity = await capacityOf(session, name, start, seconds);
    agree &&= capacity.agree;
    known(capacity);
  }
  return agree;
}

async function capacityOf(session: Session, name: string, start: number, seconds: number): Promise<Capacity> {
  const only = name === 'mixed' ? undefined : [name as ScenarioName];
  await runTest(session, { test: 'average', rate: start / 2, seconds: WARM_UP_SECONDS, only });
  const knees: number[] = [];
  let best: { rate: number; outcome: Outcome } | undefined;
  while (knees.length < 2 || (knees.length < MOST_SEARCHES && !agreed(knees))) {
    best = undefined;
    const knee = await findKnee({
      // Start below the last result, so that the search tries other rates.
      start: knees.length === 0 ? start : (knees.at(-1) as number) * 0.75,
      most: MOST,
      within: WITHIN,
      async trial(rate) {
        const outcome = await tryRate(session, name, { rate, seconds, only });
        if (outcome.pass && outcome.void.length === 0 && rate > (best?.rate ?? 0)) best = { rate, outcome };
        return outcome;
      },
    });
    knees.push(knee);
  }
  const { rows = [], usage = {} } = best?.outcome ?? {};
  const { k6: _, watcher: __, ...system } = usage;
  const cpuMs = Object.fromEntries(Object.entries(system).map(([process, { cpu }]) => [process, (cpu * 1000) / goodput(rows)]));
  return { subject: name, knees, agree: agreed(knees), cpuMs, p99: best === undefined ? NaN : worstP99(best.outcome) };
}

function agreed(knees: readonly number[]): boolean {
  const [before = 0, last = 0] = knees.slice(-2);
  return disagreement(before, last) <= MOST_DISAGREEMENT;
}

/** Runs a trial of a search and reports it. Dropped iterations with slow answers mean that the rate is too high, not that the trial is void. */
export async function tryRate(session: Session, name: string, ask: Omit<Ask, 'test'> & { readonly rate: number }): Promise<Outcome> {
  const outcome = await runTest(session, { test: 'average', ...ask });
  const verdict = outcome.void.length > 0 ? `void, ${outcome.void.join('; ')}` : outcome.pass ? 'kept' : 'not kept';
  say(`${name} at ${ask.rate.toFixed(0)}/s: ${verdict} (p99 ${worstP99(outcome).toFixed(0)} ms)`);
  return { ...outcome, void: outcome.onlyDropped && !outcome.pass ? [] : outcome.void };
}

/** Milliseconds of the slowest operation. */
export function worstP99({ rows }: Outcome): number {
  return Math.max(...rows.map(({ p99 }) => p99));
}

export function capacityText({ subject, knees, agree, cpuMs, p99 }: Capacity): string {
  const found = knees.map((knee) => knee.toFixed(0)).join(' and ');
  return `${subject}: ${found} requests a second${agree ? '' : ', WHICH DO NOT AGREE'}; p99 ${p99.toFixed(0)} ms; CPU ms each: ${cpuText(cpuMs)}`;
}
