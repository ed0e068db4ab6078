// What reports count: invoices, payments, refunds, jobs. A fact counts at an instant; a generation's time zone determines the day.
import { countedDay, civil } from '@truckroll/contract';
import type { Queryable } from '@truckroll/postgres';
import { NONE, measuresOf, type SummaryDefinition } from './definitions.ts';

/** Whole and exact: a number while that is safe, which is nearly always and much cheaper, otherwise a bigint. */
export type Amount = number | bigint;

export interface Entry {
  summary: SummaryDefinition;
  /** When it counts, in microseconds since 1970. */
  at: number;
  /** Values of the summary's dimensions; NONE for a missing value. */
  values: Readonly<Record<string, string>>;
  standing: string;
  /** In the order of measuresOf. */
  measures: readonly Amount[];
}

/** Entries in SQL, for many facts at once. */
export interface Counted {
  summary: SummaryDefinition;
  /** SELECT of the rows that count: company_id, id of the fact, at, standing, each dimension (null for none), each measure. */
  rows: string;
}

export interface FactKind {
  name: string;
  counted: readonly Counted[];
  /** Entries by id; ids without any are absent. */
  read(db: Queryable, companyId: string, ids: readonly string[]): Promise<ReadonlyMap<string, readonly Entry[]>>;
  /** The next ids after `after`, ascending, at most `limit`. */
  next(db: Queryable, companyId: string, after: string | null, limit: number): Promise<string[]>;
}

export function entryOf(
  summary: SummaryDefinition,
  at: number,
  values: Record<string, string | null>,
  standing: string,
  measures: Record<string, Amount>,
): Entry {
  const inOrder = measuresOf(summary).map((name) => measures[name] ?? 0);
  return entryWith(summary, at, values, standing, inOrder);
}

/** Like entryOf, with measures in the order of measuresOf. */
export function entryWith(summary: SummaryDefinition, at: number, values: Record<string, string | null>, standing: string, measures: readonly Amount[]): Entry {
  const known: Record<string, string> = {};
  for (const dimension of summary.dimensions) known[dimension] = values[dimension] ?? NONE;
  return { summary, at, values: known, standing, measures };
}

export function sameEntries(a: readonly Entry[] = [], b: readonly Entry[] = []): boolean {
  return a.length === b.length && a.every((entry, i) => sameEntry(entry, b[i] as Entry));
}

function sameEntry(a: Entry, b: Entry): boolean {
  return a.at === b.at && sameGroup(a, b) && a.measures.every((value, i) => value === b.measures[i]);
}

/** Whether two entries count for the same values. */
export function sameGroup(a: Entry, b: Entry): boolean {
  return a.summary === b.summary && a.standing === b.standing && a.summary.dimensions.every((dimension) => a.values[dimension] === b.values[dimension]);
}

/** Days since 1970-01-01. */
interface Dates {
  readonly day: number;
  readonly month: number;
}

/** Cached by day: there are few, each used again and again. */
const dates = new Map<number, Dates>();
const MOST_DATES = 50_000;

/** The day that an instant counts on, and the first of its month. */
export function datesOf(at: number, timeZone: string): Dates {
  return datesOfDay(countedDay(at, timeZone));
}

export const monthOf = (day: number): number => datesOfDay(day).month;

function datesOfDay(day: number): Dates {
  let known = dates.get(day);
  if (known === undefined) {
    if (dates.size >= MOST_DATES) dates.clear();
    const [, , ofMonth] = civil(day);
    dates.set(day, (known = { day, month: day - ofMonth + 1 }));
  }
  return known;
}

/** The same amount, as a number if that is safe, so that equal amounts are `===`. */
export function amountOf(value: Amount | string): Amount {
  const exact = Number(value);
  return Number.isSafeInteger(exact) ? exact : BigInt(value);
}

export function plus(a: Amount, b: Amount): Amount {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    // Otherwise the sum was rounded.
    if (Number.isSafeInteger(sum)) return sum;
  }
  return amountOf(BigInt(a) + BigInt(b));
}

export const less = (a: Amount, b: Amount): Amount => plus(a, -b);
