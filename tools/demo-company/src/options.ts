import type { Weights } from './random.ts';

export interface Size {
  readonly accounts: number;
  readonly jobs: number;
  readonly members: number;
}

export type NamedSize = 'small' | 'business' | 'medium' | 'large';

/**
 * `small` imports in seconds and still shows every value and null; `business` is as busy as a real one of its size in the weeks
 * around today; `large` has about a million invoices.
 */
export const SIZES: Readonly<Record<NamedSize, Size>> = {
  small: { accounts: 150, jobs: 400, members: 20 },
  business: { accounts: 380, jobs: 1_740, members: 30 },
  medium: { accounts: 4_000, jobs: 20_000, members: 40 },
  large: { accounts: 200_000, jobs: 1_080_000, members: 400 },
};

export interface DemoOptions {
  /** A whole number from 0 to 2^32 − 1. Two seeds share no id. */
  readonly seed: number;
  /** A named size, a number of jobs, or explicit numbers; missing ones follow from the number of jobs. */
  readonly size: NamedSize | number | Partial<Size>;
  /** IANA time zone in which work is planned. */
  readonly timezone: string;
  /** "Now" as an ISO 8601 date-time. The history covers the two years before it; nothing is recorded after it. */
  readonly until: string;
}

/** Weights of numbers: of visits by job, and of technicians by visit. */
export interface CompanyShape {
  readonly visits: Weights;
  readonly crew: Weights;
  /** Whether the weeks around today hold every visit, and the months before them mostly the large jobs. */
  readonly busy?: true;
}

export const BELIEVABLE: CompanyShape = {
  visits: { 0: 2, 1: 25, 2: 9, 3: 5 },
  crew: { 0: 2, 1: 13, 2: 4, 3: 1 },
};

export const BUSINESS: CompanyShape = { ...BELIEVABLE, busy: true };

export function resolveSize(size: DemoOptions['size']): Size {
  if (typeof size === 'string') {
    if (!Object.hasOwn(SIZES, size)) {
      throw new RangeError(`size ${size} is not known; use ${Object.keys(SIZES).join(', ')} or a number of jobs`);
    }
    return SIZES[size];
  }
  const given = typeof size === 'number' ? { jobs: size } : size;
  const jobs = given.jobs ?? SIZES.small.jobs;
  const accounts = given.accounts ?? Math.max(8, Math.ceil(jobs / 4));
  const members = given.members ?? Math.min(400, Math.max(20, Math.ceil(jobs / 1000)));
  for (const [name, value, least] of [
    ['jobs', jobs, 1],
    ['accounts', accounts, 1],
    ['members', members, 20],
  ] as const) {
    if (!Number.isSafeInteger(value) || value < least || value > 100_000_000) {
      throw new RangeError(`${name} must be a whole number from ${least} to 100000000, not ${value}`);
    }
  }
  return { accounts, jobs, members };
}

export function resolveSeed(seed: number): number {
  if (!Number.isInteger(seed) || seed < 0 || seed > 0xffff_ffff) {
    throw new RangeError(`seed must be a whole number from 0 to 4294967295, not ${seed}`);
  }
  return seed;
}
