// Changes of sums: folded in memory, so that a batch writes each row once, and written in the order of their keys.
import { setImmediate as turn } from 'node:timers/promises';
import { binaryArrays, heard, type Queryable, type Statement } from '@truckroll/service-kit';
import { datesOf, sameGroup, type Entry } from '../facts/fact.ts';
import { DEFINITIONS, measuresOf, type SummaryDefinition } from './definitions.ts';

/** A row's measures, in the order of measuresOf. */
type Measures = bigint[];

/** Between the parts of a key in memory: no text of PostgreSQL's has it. */
const SEPARATOR = '\0';
/** Rows of one statement. */
const CHUNK = 5000;

interface Target {
  generation: number;
  time_zone: string;
}

export class Deltas {
  /** By table and by key. */
  readonly #tables = new Map<string, Map<string, Measures>>();

  /** Adds to a generation what an entry has become: `before` is taken back. */
  change(generation: Target, before: readonly Entry[], now: readonly Entry[]): void {
    for (let i = 0; i < Math.max(before.length, now.length); i += 1) {
      const [old, next] = [before[i], now[i]];
      if (old !== undefined && next !== undefined && sameRows(old, next, generation.time_zone)) {
        this.#add(
          generation,
          old,
          next.measures.map((value, m) => value - (old.measures[m] as bigint)),
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

  #add({ generation, time_zone }: Target, { summary, at, values, standing }: Entry, measures: readonly bigint[]): void {
    const { day, month } = datesOf(at, time_zone);
    const sums = this.#rowsOf(summary.table);
    const part = (name: string, value: string): void => {
      const rest = `${SEPARATOR}${value}${SEPARATOR}${standing}`;
      fold(sums, `${generation}${SEPARATOR}${name}day${SEPARATOR}${day}${rest}`, measures);
      fold(sums, `${generation}${SEPARATOR}${name}month${SEPARATOR}${month}${rest}`, measures);
    };
    if (summary.whole) part('', '');
    for (const dimension of summary.dimensions) part(`${dimension}/`, values[dimension] as string);
    const few = summary.few.map((dimension) => values[dimension] as string);
    fold(this.#rowsOf(summary.combinations), [generation, month, ...few, standing].join(SEPARATOR), measures);
  }

  #rowsOf(table: string): Map<string, Measures> {
    let rows = this.#tables.get(table);
    if (rows === undefined) this.#tables.set(table, (rows = new Map()));
    return rows;
  }

  /**
   * Writes what differs, in the caller's transaction, which holds the company's lock. With a prefix into tables of the
   * same columns whose names begin with it.
   */
  async write(tx: Queryable, companyId: string, prefix = ''): Promise<void> {
    const writing: Promise<unknown>[] = [];
    const tables = new Map(this.#tables);
    this.#tables.clear();
    for (const definition of DEFINITIONS) {
      for (const table of [definition.table, definition.combinations]) {
        const changed = [...(tables.get(table) ?? [])].filter(([, measures]) => measures.some((value) => value !== 0n));
        const sorted = changed.sort(([a], [b]) => (a < b ? -1 : 1));
        for (let start = 0; start < sorted.length; start += CHUNK) {
          // What is there so far leaves first: PostgreSQL writes it while more is being made.
          if (writing.length > 0) await turn();
          const rows = writingRows(companyId, definition, { keys: keyColumns(definition, table), into: prefix + table }, sorted.slice(start, start + CHUNK));
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

function fold(rows: Map<string, Measures>, key: string, measures: readonly bigint[]): void {
  const known = rows.get(key);
  if (known === undefined) rows.set(key, [...measures]);
  else for (let i = 0; i < known.length; i += 1) known[i] = (known[i] as bigint) + (measures[i] as bigint);
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

function writingRows(
  companyId: string,
  definition: SummaryDefinition,
  { keys: own, into: table }: Place,
  rows: readonly (readonly [string, Measures])[],
): Statement {
  const keys = ['generation', ...own];
  const measures = measuresOf(definition);
  const typeOf = (name: string): string => {
    if (name === 'generation') return 'integer';
    if (name === 'period') return 'date';
    if (definition.counts.includes(name)) return 'bigint';
    return definition.cents.includes(name) ? 'numeric' : 'text';
  };
  const columns = [...keys, ...measures];
  const parts = rows.map(([key]) => key.split(SEPARATOR));
  const keysOf = keys.map((name, i) => {
    const column = parts.map((part) => part[i]);
    if (name === 'generation') return binaryArrays.integer(column.map(Number));
    return name === 'period' ? binaryArrays.date(column) : binaryArrays.text(column);
  });
  const measuresIn = measures.map((name, i) => {
    const column = rows.map(([, values]) => values[i] as bigint);
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
