import { setTimeout as delay } from 'node:timers/promises';
import { say } from '@truckroll/local-stack';
import type { ScenarioName } from '../k6/scenarios/index.ts';
import { latencyText } from '../measure/latency.ts';
import { median } from '../measure/turns.ts';
import { runK6 } from './k6.ts';
import { CORES } from './own-system.ts';
import type { Session } from './session.ts';
import { latencyIn } from './verdict.ts';

/** Rate of the other company, in requests a second: a negligible load. */
const RATE = 40;
/** About a thousand requests, so that p99 is one of the slowest ten. */
const SECONDS = 24;
/** Head start of the flood, in which it compiles its code; it lasts until the other company has finished. */
const FLOOD_BEFORE_SECONDS = 5;
const FLOOD_SECONDS = FLOOD_BEFORE_SECONDS + SECONDS + 3;
/** Rounds alternate with and without the flood, because the machine's speed varies: single ratios ranged from 0.4 to 4.8. */
const ROUNDS = 9;

/** Latency of the other company in each round, and the median over rounds of its p99 with the flood ÷ p99 without it. */
export async function besideFlood({ k6, target, pinned }: Session, rate: number, only: readonly ScenarioName[] | undefined) {
  const core = pinned ? CORES.generator : undefined;
  const { API_KEY_HUGE, API_KEY_EMPTY: _empty, USER_TOKEN, ...flooding } = target.env;
  const reading = { ...flooding, API_KEY: API_KEY_HUGE ?? flooding.API_KEY, RATE: String(RATE), DURATION: String(SECONDS), ONLY: 'detail' };
  const asking = { ...flooding, USER_TOKEN, RATE: String(rate), DURATION: String(FLOOD_SECONDS), ONLY: only?.join() };
  const shared = { k6, test: 'average' as const, core };
  const read = (name: string) => runK6({ ...shared, env: reading, name });
  const rounds = [];
  for (let number = 1; number <= ROUNDS; number++) {
    const alone = latencyIn(await read('alone'), 'detail');
    // The flood's generator runs at idle priority, so that it does not delay the other company's.
    const flooded = runK6({ ...shared, env: asking, name: 'flood', yields: true });
    await delay(FLOOD_BEFORE_SECONDS * 1000);
    const beside = latencyIn(await read('beside'), 'detail');
    await flooded;
    say(`round ${number}, another company beside a flood: ${latencyText(beside)}; without it: ${latencyText(alone)}`);
    rounds.push({ alone, beside });
  }
  return { ratio: median(rounds.map(({ beside, alone }) => beside.p99 / alone.p99)), rounds };
}
