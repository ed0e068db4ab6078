// Which scenarios a test runs, and at which rates: the same for k6, which makes the load, and for whoever judges it.
import { MIXED, SCENARIOS, SCENARIO_NAMES, requestsOf, type ScenarioName } from '../scenarios/index.ts';
import type { Operation } from '../scenarios/api.ts';
import { STEADY, arrivalsOf, countOf, rateAt, secondsOf, type Arrivals, type Profile } from './arrivals.ts';

export interface Test {
  readonly about: string;
  readonly profile: Profile;
  /** Unless it is told others: requests a second of all scenarios together, and how long. */
  readonly rate: number;
  readonly seconds: number;
  /** Whether it ends as soon as a threshold is crossed. */
  readonly aborts?: boolean;
  /** Whether every scenario has the same rate, and statuses and shapes are all that counts. */
  readonly thorough?: boolean;
}

export const TESTS = {
  smoke: { about: 'statuses and shapes of everything, no times', profile: STEADY, rate: 40, seconds: 6, thorough: true },
  average: { about: 'a usual hour', profile: STEADY, rate: 100, seconds: 60 },
  day: {
    about: 'a day in minutes: morning, noon, afternoon, night',
    profile: {
      from: 0.1,
      stages: [
        [0.2, 0.1],
        [0.15, 1.5],
        [0.15, 1.2],
        [0.1, 0.7],
        [0.15, 1.4],
        [0.15, 0.4],
        [0.1, 0.1],
      ],
    },
    rate: 100,
    seconds: 120,
  },
  stress: {
    about: 'twice the usual, held',
    profile: {
      from: 0.5,
      stages: [
        [0.25, 2],
        [0.5, 2],
        [0.25, 0.5],
      ],
    },
    rate: 100,
    seconds: 80,
  },
  spike: {
    about: 'five times the usual at once',
    profile: {
      from: 1,
      stages: [
        [0.3, 1],
        [0.03, 5],
        [0.2, 5],
        [0.03, 1],
        [0.44, 1],
      ],
    },
    rate: 60,
    seconds: 60,
  },
  soak: { about: 'most of what it takes, for long', profile: STEADY, rate: 100, seconds: 1200 },
  breakpoint: { about: 'more and more until a threshold is crossed', profile: { from: 0.05, stages: [[1, 1]] }, rate: 600, seconds: 240, aborts: true },
} as const satisfies Record<string, Test>;
export type TestName = keyof typeof TESTS;

export interface Asked {
  readonly test: TestName;
  readonly rate?: number | undefined;
  readonly seconds?: number | undefined;
  readonly only?: readonly ScenarioName[] | undefined;
  /** What there is of what scenarios need. */
  readonly has: Readonly<Record<'huge' | 'empty' | 'userToken', boolean>>;
}

export type Plan = Readonly<Partial<Record<ScenarioName, Arrivals>>>;

/** Throws a sentence where nothing is left to run. */
export function planOf({ test, rate, seconds, only, has }: Asked): Plan {
  const settings: Test = TESTS[test];
  const chosen = (only ?? SCENARIO_NAMES).filter((name) => {
    const { needs } = SCENARIOS[name] as { needs?: keyof Asked['has'] };
    return needs === undefined || has[needs];
  });
  if (chosen.length === 0) throw new Error(`None of the scenarios can run with the credentials that there are: ${(only ?? SCENARIO_NAMES).join(', ')}.`);
  const weight = (name: ScenarioName): number => (settings.thorough === true ? 1 : MIXED[name]);
  const all = chosen.reduce((sum, name) => sum + weight(name), 0);
  const total = rate ?? settings.rate;
  return Object.fromEntries(
    chosen.map((name) => [name, arrivalsOf(settings.profile, (total * weight(name)) / all / requestsOf(name), seconds ?? settings.seconds)]),
  );
}

/** Requests of each operation that a plan asks for within so many seconds, or in all. */
export function askedOf(plan: Plan, within?: number): Partial<Record<Operation, number>> {
  const asked: Partial<Record<Operation, number>> = {};
  for (const [name, arrivals] of Object.entries(plan) as [ScenarioName, Arrivals][]) {
    for (const [operation, sends] of Object.entries(SCENARIOS[name].sends) as [Operation, number][])
      asked[operation] = (asked[operation] ?? 0) + countOf(arrivals, within) * sends;
  }
  return asked;
}

/** Requests a second of all operations together that a plan asks for when so many seconds have passed. */
export function requestsAt(plan: Plan, seconds: number): number {
  return (Object.entries(plan) as [ScenarioName, Arrivals][]).reduce((sum, [name, arrivals]) => sum + rateAt(arrivals, seconds) * requestsOf(name), 0);
}

export function durationOf(plan: Plan): number {
  return Math.max(...Object.values(plan).map(secondsOf));
}
