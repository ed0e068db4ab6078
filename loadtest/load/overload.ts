// Measures the system beyond its knee: answered and shed requests, the effect on another company, and the recovery.
import { say } from '@truckroll/local-stack';
import type { Options } from './arguments.ts';
import { besideFlood } from './beside.ts';
import { tryRate, worstP99 } from './capacity.ts';
import { OTHERS } from './endurance.ts';
import { watchGateway, type Second } from './gateway-watch.ts';
import { findKnee } from './knee.ts';
import { runTest, type Outcome, type Session } from './session.ts';
import { goodput, type Row } from './verdict.ts';

const SECONDS = 15;
const START = 200;
const RECOVERY_SECONDS = 20;
/** Beyond the knee answers suddenly take seconds, so all workers must exist from the start. */
const WORKERS = { SLOW_SECONDS: '4' };
const TRIAL_SECONDS = 6;

export async function measureOverload(session: Session, { rate, seconds = SECONDS, only }: Options) {
  const { target } = session;
  const system = target.system;
  if (system === undefined) throw new Error('overload needs a system of its own');
  const trial = (at: number) => tryRate(session, 'knee', { rate: at, seconds: TRIAL_SECONDS, only });
  const knee = rate ?? (await findKnee({ start: START, most: 6000, within: 0.08, trial }));
  const atKnee = await runTest(session, { test: 'average', rate: knee, seconds, only, env: WORKERS });
  const watching = watchGateway(system.gateway.metricsPort);
  const atTwice = await runTest(session, { test: 'average', rate: 2 * knee, seconds, only, env: WORKERS });
  const after = await runTest(session, { test: 'average', rate: knee / 2, seconds: RECOVERY_SECONDS, only });
  const watched = await watching.stop();
  for (const [name, outcome] of Object.entries({ 'at the knee': atKnee, 'at twice the knee': atTwice, afterwards: after })) {
    const reasons = outcome.void.length === 0 ? '' : ` (void: ${outcome.void.join('; ')})`;
    say(`${name}: ${goodput(outcome.rows).toFixed(0)}/s answered of ${asked(outcome.rows).toFixed(0)}/s${reasons}`);
  }
  const beside = await besideFlood(session, 2 * knee, only);
  return {
    knee,
    goodputAtKnee: goodput(atKnee.rows),
    goodputAtTwice: goodput(atTwice.rows),
    p99AtTwice: worstP99(atTwice),
    // Shares of the requests at twice the knee: shed with Retry-After, and failed otherwise.
    shed: share(atTwice.rows, ({ shed }) => shed),
    failed: share(atTwice.rows, ({ errors, shed }) => errors - shed),
    // Resident memory of gateway and services at twice the knee ÷ at the knee.
    memory: memoryOf(atTwice, target.groups) / memoryOf(atKnee, target.groups),
    recovery: recoveryOf(watched, knee),
    watched,
    beside,
  };
}

function asked(rows: readonly Row[]): number {
  return rows.reduce((sum, row) => sum + row.asked, 0);
}

function share(rows: readonly Row[], of: (row: Row) => number): number {
  return rows.reduce((sum, row) => sum + of(row) * row.asked, 0) / asked(rows);
}

/** Peak resident memory of gateway and services, in MB. */
function memoryOf({ usage }: Outcome, groups: Readonly<Record<string, unknown>>): number {
  const ours = Object.keys(groups).filter((name) => !OTHERS.has(name));
  return ours.reduce((sum, name) => sum + (usage[name]?.memoryMost ?? 0), 0);
}

/** Seconds from the end of the flood to the first second without rejections that answers the load of half the knee; undefined without one. */
function recoveryOf(seconds: readonly Second[], knee: number): number | undefined {
  const last = seconds.findLastIndex(({ refused, failed }) => refused + failed > 0.001 * knee);
  if (last < 0) return 0;
  const well = seconds.findIndex(({ good }, index) => index > last && good >= 0.45 * knee);
  const flooded = seconds.findLastIndex(({ good, refused }) => good + refused > 1.2 * knee);
  return well < 0 ? undefined : Math.max(0, (seconds[well]?.at ?? 0) - (seconds[Math.max(flooded, 0)]?.at ?? 0));
}
