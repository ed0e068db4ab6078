// What a caller gives, checked before anything is sent.
import type { RetryLimits } from './repeat.ts';

export interface Limits extends RetryLimits {
  readonly timeoutMs: number;
}

/** Longest timeout and wait. With the time of a held poll, or what is added at random, it is below the 2^31 ms that a timer takes. */
const LONGEST_MS = 2_000_000_000;

/** The limits that are given, and the standard ones for others. Throws TypeError for one that is no number in its range. */
export function limitsOf(given: { readonly [Name in keyof Limits]?: number | undefined }, standard: Limits): Limits {
  return {
    timeoutMs: numberIn('timeoutMs', given.timeoutMs ?? standard.timeoutMs, 1, LONGEST_MS),
    retries: numberIn('retries', given.retries ?? standard.retries, 0),
    longestWaitSeconds: numberIn('longestWaitSeconds', given.longestWaitSeconds ?? standard.longestWaitSeconds, 0, LONGEST_MS / 1000),
  };
}

export function numberIn(name: string, value: number, least: number, most = Infinity): number {
  if (typeof value === 'number' && value >= least && value <= most) return value;
  throw new TypeError(`${name} must be a number from ${least}${most === Infinity ? '' : ` to ${most}`}: got ${String(value)}.`);
}

/** The query of an address, with its question mark. Throws TypeError for an empty list: without values, a filter would let everything through. */
export function queryText(query: Readonly<Record<string, unknown>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    const given = [value].flat().filter((each) => each != null);
    if (given.length === 0 && Array.isArray(value)) throw new TypeError(`${name} is an empty list: give at least one value, or leave it out.`);
    for (const each of given) search.append(name, String(textOfDate(name, each)));
  }
  return search.size === 0 ? '' : `?${search}`;
}

/** A body as JSON. */
export function jsonText(body: unknown): string {
  // `value` is what a Date makes of itself, which is null for an invalid one.
  return JSON.stringify(body, function (this: Record<string, unknown>, name, value: unknown) {
    return this[name] instanceof Date ? textOfDate(name, this[name]) : value;
  });
}

function textOfDate(name: string, value: unknown): unknown {
  if (!(value instanceof Date)) return value;
  if (Number.isNaN(value.getTime())) throw new TypeError(`${name} is an invalid Date.`);
  return value.toISOString();
}
