// Facts are what reports count: an invoice, a payment, a refund, a job. They know nothing of time zones: a fact counts at
// an instant, and a generation's zone says on which day that is.
import { countedDay, civil, formatDate } from '@truckroll/contract';
import type { Queryable } from '@truckroll/service-kit';
import { NONE, measuresOf, type SummaryDefinition } from '../summaries/definitions.ts';

/** What a fact adds to the sums of one report. */
export interface Entry {
  summary: SummaryDefinition;
  /** When it counts, in microseconds since 1970. */
  at: number;
  /** Values of the summary's dimensions, NONE for what has none. */
  values: Readonly<Record<string, string>>;
  standing: string;
  /** In the order of measuresOf. */
  measures: readonly bigint[];
}

/** The same in SQL, for many facts at once. */
export interface Counted {
  summary: SummaryDefinition;
  /** SELECT of the rows that count: company_id, id of the fact, at, standing, each dimension (null for none), each measure. */
  rows: string;
}

/** Facts of one kind: read as they are stored, by id. */
export interface FactKind {
  name: string;
  counted: readonly Counted[];
  /** Entries by id; ids without any are absent. */
  read(db: Queryable, companyId: string, ids: readonly string[]): Promise<ReadonlyMap<string, readonly Entry[]>>;
  /** The next ids after one, ascending, at most so many. */
  next(db: Queryable, companyId: string, after: string | null, limit: number): Promise<string[]>;
}

export function entryOf(
  summary: SummaryDefinition,
  at: number,
  values: Record<string, string | null>,
  standing: string,
  measures: Record<string, bigint>,
): Entry {
  const known: Record<string, string> = {};
  for (const dimension of summary.dimensions) known[dimension] = values[dimension] ?? NONE;
  return {
    summary,
    at,
    values: known,
    standing,
    measures: measuresOf(summary).map((name) => measures[name] ?? 0n),
  };
}

export function sameEntries(a: readonly Entry[] = [], b: readonly Entry[] = []): boolean {
  return a.length === b.length && a.every((entry, i) => sameEntry(entry, b[i] as Entry));
}

function sameEntry(a: Entry, b: Entry): boolean {
  return a.at === b.at && sameGroup(a, b) && a.measures.every((value, i) => value === b.measures[i]);
}

/** Whether two count for the same values. */
export function sameGroup(a: Entry, b: Entry): boolean {
  return a.summary === b.summary && a.standing === b.standing && a.summary.dimensions.every((dimension) => a.values[dimension] === b.values[dimension]);
}

interface Dates {
  readonly day: string;
  readonly month: string;
}

/** By day since 1970: there are few, and each is asked for again and again. */
const dates = new Map<number, Dates>();
/** More than a hundred years. */
const MOST_DATES = 50_000;

/** The day that an instant counts on, and the first of its month, as dates. */
export function datesOf(at: number, timeZone: string): Dates {
  const number = countedDay(at, timeZone);
  let known = dates.get(number);
  if (known === undefined) {
    if (dates.size >= MOST_DATES) dates.clear();
    const [, , ofMonth] = civil(number);
    dates.set(number, (known = { day: formatDate(number), month: formatDate(number - ofMonth + 1) }));
  }
  return known;
}
