// Changes of sums, accumulated in memory so that a batch writes each row once, in key order.
import { setImmediate as turn } from 'node:timers/promises';
import { binaryArrays, type Queryable, type Statement } from '@truckroll/postgres';
import { handled } from '@truckroll/process';
import { datesOf, less, monthOf, plus, sameGroup, type Amount, type Entry } from '../facts/fact.ts';
import { DEFINITIONS, measuresOf, type SummaryDefinition } from '../facts/definitions.ts';

type Measures = Amount[];

/** One day or month: standing → value → measures. Nested, so that an addition needs no composite key. */
type OfPeriod = Map<string, Map<string, Measures>>;

/** By day or month, in days since 1970. */
type Rows = Map<number, OfPeriod>;

/** Sums of one generation and summary; all other sums are computed from these. */
interface Sums {
  /** By dimension, in alphabetical order. Sums of months and overall sums are computed when writing. */
  readonly days: ReadonlyMap<string, Rows>;
  /** By month, and by the joined values. */
  readonly combinations: Rows;
}

/** Separates the values of a key in memory: PostgreSQL's text cannot contain it. */
export const SEPARATOR = '\0';
/** Rows per statement: PostgreSQL writes some while the next are prepared. */
const CHUNK = 2500;

interface Target {
  generation: number;
  time_zone: string;
}

export class Deltas {
  readonly #sums = new Map<SummaryDefinition, Map<number, Sums>>();

  change(generation: Target, before: readonly Entry[], now: readonly Entry[]): void {
    for (let i = 0; i < Math.max(before.length, now.length); i += 1) {
      const [old, next] = [before[i], now[i]];
      if (old !== undefined && next !== undefined && sameRows(old, next, generation.time_zone)) {
        this.#add(
          generation,
          old,
          next.measures.map((value, m) => less(value, old.measures[m] as Amount)),
        );
        continue;
      }
      if (old !== undefined)
        this.#add(
          generation,
          old,
          old.measures.map((value) => -value),
        );
      if (next !== undefined) this.#add(generation, next, next.measures);
    }
  }

  #add({ generation, time_zone }: Target, { summary, at, values, standing }: Entry, measures: readonly Amount[]): void {
    const { day, month } = datesOf(at, time_zone);
    const { days, combinations } = this.#sumsOf(summary, generation);
    for (const [dimension, rows] of days) fold(rows, day, standing, values[dimension] as string, measures);
    fold(combinations, month, standing, summary.few.map((dimension) => values[dimension]).join(SEPARATOR), measures);
  }

  #sumsOf(summary: SummaryDefinition, generation: number): Sums {
    let generations = this.#sums.get(summary);
    if (generations === undefined) this.#sums.set(summary, (generations = new Map<number, Sums>()));
    let sums = generations.get(generation);
    if (sums === undefined) {
      const days = new Map(summary.dimensions.toSorted().map((dimension): [string, Rows] => [dimension, new Map<number, OfPeriod>()]));
      generations.set(generation, (sums = { days, combinations: new Map() }));
    }
    return sums;
  }

  /** Runs in the caller's transaction, which holds the company's lock. */
  async write(tx: Queryable, companyId: string): Promise<void> {
    const writing: Promise<unknown>[] = [];
    for (const { definition, table, rows: changed } of this.take()) {
      for (let start = 0; start < changed.length; start += CHUNK) {
        // Sends pending statements first: PostgreSQL executes them while the next is prepared.
        if (writing.length > 0) await turn();
        const rows = writingRows(companyId, definition, { keys: keyColumns(definition, table), into: table }, changed.slice(start, start + CHUNK));
        writing.push(...[byKey(true), rows, byKey(false)].map((statement) => handled(tx.query(statement))));
      }
    }
    await Promise.all(writing);
  }

  /** Yields the changed rows by table, and clears them. */
  *take(): Generator<{ definition: SummaryDefinition; table: string; rows: readonly ChangedSum[] }> {
    const sums = new Map(this.#sums);
    this.#sums.clear();
    for (const definition of DEFINITIONS) {
      const generations = [...(sums.get(definition) ?? [])];
      const days = generations.flatMap(([generation, of]) => changedParts(generation, definition, of.days));
      yield { definition, table: definition.table, rows: days };
      const combinations = generations.flatMap(([generation, of]) => changedRows({ generation }, of.combinations));
      yield { definition, table: definition.combinations, rows: combinations };
    }
  }
}

function sameRows(a: Entry, b: Entry, timeZone: string): boolean {
  return sameGroup(a, b) && (a.at === b.at || datesOf(a.at, timeZone).day === datesOf(b.at, timeZone).day);
}

function fold(rows: Rows, period: number, standing: string, value: string, measures: readonly Amount[]): void {
  let ofPeriod = rows.get(period);
  if (ofPeriod === undefined) rows.set(period, (ofPeriod = new Map<string, Map<string, Measures>>()));
  let ofStanding = ofPeriod.get(standing);
  if (ofStanding === undefined) ofPeriod.set(standing, (ofStanding = new Map<string, Measures>()));
  const known = ofStanding.get(value);
  if (known === undefined) ofStanding.set(value, [...measures]);
  else for (let i = 0; i < measures.length; i += 1) known[i] = plus(known[i] as Amount, measures[i] as Amount);
}

function sumsOf(rows: Rows, periodOf: (period: number) => number, valueOf: (value: string) => string): Rows {
  const sums: Rows = new Map();
  for (const [period, ofPeriod] of rows) {
    const into = periodOf(period);
    for (const [standing, ofStanding] of ofPeriod) for (const [value, measures] of ofStanding) fold(sums, into, standing, valueOf(value), measures);
  }
  return sums;
}

export interface ChangedSum {
  readonly generation: number;
  readonly part?: string;
  readonly period: number;
  readonly standing: string;
  /** Value of one dimension, or the joined values of several. */
  readonly value: string;
  readonly measures: Measures;
}

/** Changed rows in key order, so that neighbors are on the same page of the table. */
function changedRows(where: Pick<ChangedSum, 'generation' | 'part'>, rows: Rows): ChangedSum[] {
  const changed: ChangedSum[] = [];
  for (const [period, ofPeriod] of [...rows].sort(([a], [b]) => a - b)) {
    const differ: ChangedSum[] = [];
    for (const [standing, ofStanding] of ofPeriod) {
      for (const [value, measures] of ofStanding) {
        if (measures.some((amount) => amount !== 0)) differ.push({ ...where, period, standing, value, measures });
      }
    }
    changed.push(...differ.sort((a, b) => compare(a.value, b.value) || compare(a.standing, b.standing)));
  }
  return changed;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function changedParts(generation: number, { whole, few }: SummaryDefinition, days: Sums['days']): ChangedSum[] {
  const months = (rows: Rows): Rows => sumsOf(rows, monthOf, (value) => value);
  const changed: ChangedSum[] = [];
  if (whole) {
    // Every fact has one value per dimension, so the rows of any dimension add up to the whole.
    const all = sumsOf(
      days.get(few[0] as string) as Rows,
      (day) => day,
      () => '',
    );
    changed.push(...changedRows({ generation, part: 'day' }, all), ...changedRows({ generation, part: 'month' }, months(all)));
  }
  for (const [dimension, rows] of days) {
    changed.push(...changedRows({ generation, part: `${dimension}/day` }, rows), ...changedRows({ generation, part: `${dimension}/month` }, months(rows)));
  }
  return changed;
}

export function keyColumns(definition: SummaryDefinition, table: string): readonly string[] {
  return table === definition.table ? ['part', 'period', 'value', 'standing'] : ['period', ...definition.few, 'standing'];
}

interface Place {
  keys: readonly string[];
  into: string;
}

/** Looks rows up by key until it is reset: with the planner's estimates for tables that an import is filling, merge would compare all rows with all. */
const byKey = (only: boolean): Statement => ({
  name: 'sums_by_key',
  text: `select set_config('enable_' || way, $1, true) from unnest(array['hashjoin', 'mergejoin', 'seqscan', 'bitmapscan', 'material']) way`,
  // Null resets to the default.
  values: [only ? 'off' : null],
});

function writingRows(companyId: string, definition: SummaryDefinition, { keys: own, into: table }: Place, rows: readonly ChangedSum[]): Statement {
  const keys = ['generation', ...own];
  const measures = measuresOf(definition);
  const typeOf = (name: string): string => {
    if (name === 'generation') return 'integer';
    if (name === 'period') return 'date';
    if (definition.counts.includes(name)) return 'bigint';
    return definition.cents.includes(name) ? 'numeric' : 'text';
  };
  const columns = [...keys, ...measures];
  const values = own.filter((name) => name !== 'part' && name !== 'period' && name !== 'standing');
  const valuesOf = values.length > 1 ? rows.map(({ value }) => value.split(SEPARATOR)) : undefined;
  const keysOf = keys.map((name) => {
    if (name === 'generation') return binaryArrays.integer(rows.map(({ generation }) => generation));
    if (name === 'period') return binaryArrays.day(rows.map(({ period }) => period));
    if (name === 'part') return binaryArrays.text(rows.map(({ part }) => part));
    if (name === 'standing') return binaryArrays.text(rows.map(({ standing }) => standing));
    const i = values.indexOf(name);
    return binaryArrays.text(valuesOf?.map((each) => each[i]) ?? rows.map(({ value }) => value));
  });
  const measuresIn = measures.map((name, i) => {
    const column = rows.map((row) => row.measures[i] as Amount);
    return definition.counts.includes(name) ? binaryArrays.bigint(column.map(Number)) : binaryArrays.numeric(column);
  });
  return {
    name: `add_to_${table}`,
    text: `merge into ${table} s using unnest(${columns.map((name, i) => `$${i + 2}::${typeOf(name)}[]`).join(', ')}) d(${columns.join(', ')})
      on s.company_id = $1 and ${keys.map((name) => `s.${name} = d.${name}`).join(' and ')}
      when matched and ${definition.counts.map((name) => `s.${name} + d.${name} = 0`).join(' and ')} then delete
      when matched then update set ${measures.map((name) => `${name} = s.${name} + d.${name}`).join(', ')}
      when not matched then insert (company_id, ${columns.join(', ')}) values ($1, ${columns.map((name) => `d.${name}`).join(', ')})`,
    values: [companyId, ...keysOf, ...measuresIn],
  };
}
