// Runs k6 against a system once, with the checks that make its result credible.
import { TESTS, askedOf, durationOf, planOf, requestsAt, type Asked, type Test } from '../k6/workloads/plan.ts';
import type { Slo } from '../k6/workloads/thresholds.ts';
import { runK6 } from './k6.ts';
import { CORES, type Target } from './own-system.ts';
import { enduranceOf, type Endurance } from './endurance.ts';
import { mean, usageOf, watch, type Usage } from './usage.ts';
import { rowsOf, voidReasons, type Row } from './verdict.ts';

export interface Session {
  readonly k6: string;
  readonly target: Target;
  readonly slo: Slo;
  readonly pinned: boolean;
  readonly spin: readonly number[];
  readonly stallP99: number | undefined;
}

export interface Ask extends Asked {
  readonly shown?: boolean;
  /** Added to the target's environment. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface Outcome {
  readonly seconds: number;
  readonly rows: readonly Row[];
  readonly pass: boolean;
  /** Why the run is void; empty if it is not. */
  readonly void: readonly string[];
  /** Whether dropped iterations are the only reason: if the rest was too slow as well, the rate was too high. */
  readonly onlyDropped: boolean;
  readonly usage: Readonly<Record<string, Usage>>;
  readonly endurance: Endurance | undefined;
  /** Only if a threshold ended the test: requests a second at that moment. */
  readonly brokeAt: number | undefined;
}

export async function runTest({ k6, target, slo, pinned, spin, stallP99 }: Session, { shown = false, env = {}, ...ask }: Ask): Promise<Outcome> {
  const { test, rate, seconds, only } = ask;
  const settings: Test = TESTS[test];
  const { API_KEY_HUGE, API_KEY_EMPTY, USER_TOKEN } = target.env;
  const plan = planOf({ ...ask, has: { huge: API_KEY_HUGE, empty: API_KEY_EMPTY, userToken: USER_TOKEN } });
  let watching: ReturnType<typeof watch> | undefined;
  const summary = await runK6({
    k6,
    test,
    shown,
    core: pinned ? CORES.generator : undefined,
    env: { ...target.env, RATE: rate?.toString(), DURATION: seconds?.toString(), ONLY: only?.join(), ...env },
    onStart: (pid) => (watching = watch({ ...target.groups, k6: [pid] })),
  });
  const samples = watching?.stop() ?? [];
  const usage = usageOf(samples);
  // A test that a threshold ends does not send all planned requests.
  const planned = durationOf(plan);
  const lasted = settings.aborts === true ? Math.min(planned, summary.state.testRunDurationMs / 1000) : planned;
  const rows = rowsOf(summary, { slo, asked: askedOf(plan, lasted), seconds: lasted, times: settings.thorough !== true });
  const dropped = summary.metrics['dropped_iterations']?.values['count'] ?? 0;
  const others = target.system === undefined ? undefined : mean(samples.map((sample) => sample.others));
  const reasons = voidReasons({ dropped, generator: usage['k6']?.cpu ?? 0, spin, others, stallP99 });
  const endurance = test === 'soak' ? enduranceOf(samples, summary) : undefined;
  const pass = rows.every((row) => row.pass) && (endurance?.faults.length ?? 0) === 0 && (summary.metrics['wrong']?.values['count'] ?? 0) === 0;
  // Smoke is never void, because it does not judge times.
  return {
    seconds: lasted,
    rows,
    pass,
    void: settings.thorough === true ? [] : reasons,
    onlyDropped: dropped > 0 && reasons.length === 1,
    usage,
    endurance,
    brokeAt: settings.aborts === true && lasted < planned ? requestsAt(plan, lasted) : undefined,
  };
}
