// Scenarios and rates of each test, shared by k6 and the code that judges a run.
import { MIXED, SCENARIOS, SCENARIO_NAMES, requestsOf, type ScenarioName } from '../scenarios/index.ts';
import type { Operation } from '../scenarios/api.ts';
import { arrivalsOf, countOf, during, secondsOf, type Arrivals, type Profile } from './arrivals.ts';

export interface Test {
  readonly about: string;
  readonly profile: Profile;
  /** Default rate in requests a second, over all scenarios. */
  readonly rate: number;
  readonly seconds: number;
  /** Whether the test ends as soon as a threshold is crossed. */
  readonly aborts?: boolean;
  /** Whether all scenarios run at the same rate, and only statuses and shapes are checked. */
  readonly thorough?: boolean;
}

const STEADY: Profile = { from: 1, stages: [during(1, 1)] };

export const TESTS = {
  smoke: { about: 'statuses and shapes of everything, no times', profile: STEADY, rate: 40, seconds: 6, thorough: true },
  average: { about: 'a usual hour', profile: STEADY, rate: 100, seconds: 60 },
  stress: {
    about: 'twice the usual, held',
    profile: { from: 0.5, stages: [during(0.25, 2), during(0.5, 2), during(0.25, 0.5)] },
    rate: 100,
    seconds: 80,
  },
  spike: {
    about: 'five times the usual at once',
    profile: { from: 1, stages: [during(0.3, 1), during(0.03, 5), during(0.2, 5), during(0.03, 1), during(0.44, 1)] },
    rate: 60,
    seconds: 60,
  },
  soak: { about: 'most of what it takes, for long', profile: STEADY, rate: 100, seconds: 1200 },
  breakpoint: { about: 'more and more until a threshold is crossed', profile: { from: 0.05, stages: [during(1, 1)] }, rate: 600, seconds: 240, aborts: true },
} as const satisfies Record<string, Test>;
export type TestName = keyof typeof TESTS;

export interface Asked {
  readonly test: TestName;
  readonly rate?: number | undefined;
  readonly seconds?: number | undefined;
  readonly only?: readonly ScenarioName[] | undefined;
}

/** The credentials that there are. */
type Credentials = Readonly<Record<'huge' | 'empty' | 'userToken', unknown>>;

export type Plan = Readonly<Partial<Record<ScenarioName, Arrivals>>>;

/** Throws with a message if no scenario is left to run. */
export function planOf({ test, rate, seconds, only, has }: Asked & { has: Credentials }): Plan {
  const settings: Test = TESTS[test];
  const chosen = (only ?? SCENARIO_NAMES).filter((name) => {
    const { needs } = SCENARIOS[name] as { needs?: keyof Credentials };
    return needs === undefined || Boolean(has[needs]);
  });
  if (chosen.length === 0) throw new Error(`None of the scenarios can run with the credentials that there are: ${(only ?? SCENARIO_NAMES).join(', ')}.`);
  const weight = (name: ScenarioName): number => (settings.thorough === true ? 1 : MIXED[name]);
  const all = chosen.reduce((sum, name) => sum + weight(name), 0);
  const total = rate ?? settings.rate;
  return Object.fromEntries(
    chosen.map((name) => [name, arrivalsOf(settings.profile, (total * weight(name)) / all / requestsOf(name), seconds ?? settings.seconds)]),
  );
}

export function askedOf(plan: Plan, within?: number): Partial<Record<Operation, number>> {
  const asked: Partial<Record<Operation, number>> = {};
  for (const [name, arrivals] of Object.entries(plan) as [ScenarioName, Arrivals][]) {
    for (const [operation, sends] of Object.entries(SCENARIOS[name].sends) as [Operation, number][])
      asked[operation] = (asked[operation] ?? 0) + countOf(arrivals, within) * sends;
  }
  return asked;
}

/** Planned requests of all operations in the second before `seconds`. */
export function requestsAt(plan: Plan, seconds: number): number {
  const until = (end: number): number => Object.values(askedOf(plan, end)).reduce((sum, count) => sum + count, 0);
  return until(seconds) - until(seconds - 1);
}

export function durationOf(plan: Plan): number {
  return Math.max(...Object.values(plan).map(secondsOf));
}
