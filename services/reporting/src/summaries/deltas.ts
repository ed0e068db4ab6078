// Changes of sums: folded in memory, so that a batch writes each row once, and written in the order of their keys.
import { setImmediate as turn } from 'node:timers/promises';
import { binaryArrays, heard, type Queryable, type Statement } from '@truckroll/service-kit';
import { datesOf, less, plus, sameGroup, type Amount, type Entry } from '../facts/fact.ts';
import { DEFINITIONS, measuresOf, type SummaryDefinition } from './definitions.ts';

/** A row, without the period, part and generation that it is kept under. */
interface Row {
  /** Of the rest of its key, in the order of keyColumns. */
  readonly values: readonly string[];
  /** In the order of measuresOf. */
  readonly measures: Amount[];
}

/** Rows by period, in days since 1970, and by the rest of the key as one text. */
type Rows = Map<number, Map<string, Row>>;

/** Of one generation and kind of summary. */
interface Sums {
  readonly parts: readonly { readonly dimension: string | undefined; readonly day: Rows; readonly month: Rows }[];
  readonly combinations: Rows;
}

/** Between the values of a key in memory: no text of PostgreSQL's has it. */
const SEPARATOR = '\0';
/** Rows of one statement: PostgreSQL writes some while the next are made. */
const CHUNK = 2500;

interface Target {
  generation: number;
  time_zone: string;
}

export class Deltas {
  readonly #sums = new Map<SummaryDefinition, Map<number, Sums>>();

  /** Adds to a generation what an entry has become: `before` is taken back. */
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
    const sums = this.#sumsOf(summary, generation);
    for (const { dimension, day: days, month: months } of sums.parts) {
      const own = [dimension === undefined ? '' : (values[dimension] as string), standing];
      const key = own.join(SEPARATOR);
      fold(days, day, key, own, measures);
      fold(months, month, key, own, measures);
    }
    const few = [...summary.few.map((dimension) => values[dimension] as string), standing];
    fold(sums.combinations, month, few.join(SEPARATOR), few, measures);
  }

  #sumsOf(summary: SummaryDefinition, generation: number): Sums {
    let generations = this.#sums.get(summary);
    if (generations === undefined) this.#sums.set(summary, (generations = new Map()));
    let sums = generations.get(generation);
    if (sums === undefined) {
      const part = (dimension?: string): Sums['parts'][number] => ({ dimension, day: new Map(), month: new Map() });
      const parts = [...(summary.whole ? [part()] : []), ...summary.dimensions.toSorted().map(part)];
      generations.set(generation, (sums = { parts, combinations: new Map() }));
    }
    return sums;
  }

  /**
   * Writes what differs, in the caller's transaction, which holds the company's lock. With a prefix into tables of the
   * same columns whose names begin with it.
   */
  async write(tx: Queryable, companyId: string, prefix = ''): Promise<void> {
    const writing: Promise<unknown>[] = [];
    const sums = new Map(this.#sums);
    this.#sums.clear();
    for (const definition of DEFINITIONS) {
      const generations = [...(sums.get(definition) ?? [])];
      const tables = [
        { table: definition.table, changed: generations.flatMap((each) => changedParts(...each)) },
        { table: definition.combinations, changed: generations.flatMap(([generation, { combinations }]) => changedRows({ generation }, combinations)) },
      ];
      for (const { table, changed } of tables) {
        for (let start = 0; start < changed.length; start += CHUNK) {
          // What is there so far leaves first: PostgreSQL writes it while more is being made.
          if (writing.length > 0) await turn();
          const rows = writingRows(companyId, definition, { keys: keyColumns(definition, table), into: prefix + table }, changed.slice(start, start + CHUNK));
          writing.push(...[byKey(true), rows, byKey(false)].map((statement) => heard(tx.query(statement))));
        }
      }
    }
    await Promise.all(writing);
  }
}

function sameRows(a: Entry, b: Entry, timeZone: string): boolean {
  return sameGroup(a, b) && (a.at === b.at || datesOf(a.at, timeZone).day === datesOf(b.at, timeZone).day);
}

function fold(rows: Rows, period: number, key: string, values: readonly string[], measures: readonly Amount[]): void {
  let ofPeriod = rows.get(period);
  if (ofPeriod === undefined) rows.set(period, (ofPeriod = new Map()));
  const known = ofPeriod.get(key);
  if (known === undefined) ofPeriod.set(key, { values, measures: [...measures] });
  else for (let i = 0; i < measures.length; i += 1) known.measures[i] = plus(known.measures[i] as Amount, measures[i] as Amount);
}

/** A row with all of its key. */
interface Changed extends Row {
  readonly generation: number;
  readonly part?: string;
  readonly period: number;
}

/** Rows that differ from what is stored, in the order of their keys: neighbours are on one page of it. */
function changedRows(where: Pick<Changed, 'generation' | 'part'>, rows: Rows): Changed[] {
  const changed: Changed[] = [];
  for (const [period, ofPeriod] of [...rows].sort(([a], [b]) => a - b)) {
    const differ = [...ofPeriod].filter(([, { measures }]) => measures.some((value) => value !== 0));
    for (const [, { values, measures }] of differ.sort(([a], [b]) => (a < b ? -1 : 1))) changed.push({ ...where, period, values, measures });
  }
  return changed;
}

function changedParts(generation: number, { parts }: Sums): Changed[] {
  return parts.flatMap(({ dimension, day, month }) => {
    const name = dimension === undefined ? '' : `${dimension}/`;
    return [...changedRows({ generation, part: `${name}day` }, day), ...changedRows({ generation, part: `${name}month` }, month)];
  });
}

export function keyColumns(definition: SummaryDefinition, table: string): readonly string[] {
  return table === definition.table ? ['part', 'period', 'value', 'standing'] : ['period', ...definition.few, 'standing'];
}

interface Place {
  keys: readonly string[];
  into: string;
}

/**
 * Whether each row is found by its key, whatever the planner believes of tables that an import is filling: it would compare all with all.
 * Until the transaction ends, unless it is taken back.
 */
const byKey = (only: boolean): Statement => ({
  name: 'sums_by_key',
  text: `select set_config('enable_' || way, $1, true) from unnest(array['hashjoin', 'mergejoin', 'seqscan', 'bitmapscan', 'material']) way`,
  // Null is how it was.
  values: [only ? 'off' : null],
});

function writingRows(companyId: string, definition: SummaryDefinition, { keys: own, into: table }: Place, rows: readonly Changed[]): Statement {
  const keys = ['generation', ...own];
  const measures = measuresOf(definition);
  const typeOf = (name: string): string => {
    if (name === 'generation') return 'integer';
    if (name === 'period') return 'date';
    if (definition.counts.includes(name)) return 'bigint';
    return definition.cents.includes(name) ? 'numeric' : 'text';
  };
  const columns = [...keys, ...measures];
  const values = own.filter((name) => name !== 'part' && name !== 'period');
  const keysOf = keys.map((name) => {
    if (name === 'generation') return binaryArrays.integer(rows.map(({ generation }) => generation));
    if (name === 'period') return binaryArrays.day(rows.map(({ period }) => period));
    if (name === 'part') return binaryArrays.text(rows.map(({ part }) => part));
    const i = values.indexOf(name);
    return binaryArrays.text(rows.map((row) => row.values[i]));
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
