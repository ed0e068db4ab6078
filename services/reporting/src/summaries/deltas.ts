// Changes of sums: folded in memory, so that a batch writes each row once, and written in the order of their keys.
import { binaryArrays, type Queryable } from '@truckroll/service-kit';
import { datesOf, type Entry } from '../facts/fact.ts';
import { DEFINITIONS, measuresOf, type SummaryDefinition } from './definitions.ts';

interface Delta {
  key: readonly string[];
  measures: bigint[];
}

/** Rows of one statement. */
const CHUNK = 5000;

export class Deltas {
  readonly #tables = new Map<string, Map<string, Delta>>();

  /** Adds entries to a generation, or takes them back. */
  add(generation: { generation: number; time_zone: string }, entries: readonly Entry[], sign: 1n | -1n): void {
    for (const { summary, at, values, standing, measures } of entries) {
      const { day, month } = datesOf(at, generation.time_zone);
      const number = String(generation.generation);
      const sums = (part: string, value: string): void => {
        this.#fold(summary.table, [number, `${part}day`, day, value, standing], measures, sign);
        this.#fold(summary.table, [number, `${part}month`, month, value, standing], measures, sign);
      };
      if (summary.whole) sums('', '');
      for (const dimension of summary.dimensions) sums(`${dimension}/`, values[dimension] as string);
      const few = summary.few.map((dimension) => values[dimension] as string);
      this.#fold(summary.combinations, [number, month, ...few, standing], measures, sign);
    }
  }

  #fold(table: string, key: readonly string[], measures: readonly bigint[], sign: 1n | -1n): void {
    let rows = this.#tables.get(table);
    if (rows === undefined) this.#tables.set(table, (rows = new Map()));
    const name = key.join('\0');
    const known = rows.get(name);
    if (known === undefined) rows.set(name, { key, measures: measures.map((value) => sign * value) });
    else measures.forEach((value, i) => (known.measures[i] = (known.measures[i] as bigint) + sign * value));
  }

  /**
   * Writes what differs, in the caller's transaction, which holds the company's lock. With a prefix into tables of the
   * same columns whose names begin with it.
   */
  async write(tx: Queryable, companyId: string, prefix = ''): Promise<void> {
    const writing: Promise<unknown>[] = [];
    for (const definition of DEFINITIONS) {
      for (const table of [definition.table, definition.combinations]) {
        const changed = [...(this.#tables.get(table) ?? [])].filter(([, { measures }]) => measures.some((value) => value !== 0n));
        const sorted = changed.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, delta]) => delta);
        for (let start = 0; start < sorted.length; start += CHUNK) {
          writing.push(writeRows(tx, companyId, definition, { keys: keyColumns(definition, table), into: prefix + table }, sorted.slice(start, start + CHUNK)));
        }
      }
    }
    this.#tables.clear();
    await Promise.all(writing);
  }
}

export function keyColumns(definition: SummaryDefinition, table: string): readonly string[] {
  return table === definition.table ? ['part', 'period', 'value', 'standing'] : ['period', ...definition.few, 'standing'];
}

interface Target {
  keys: readonly string[];
  into: string;
}

/** Sends its statements without waiting in between: PostgreSQL carries them out in their order, while what follows is being made. */
async function writeRows(tx: Queryable, companyId: string, definition: SummaryDefinition, target: Target, rows: readonly Delta[]): Promise<void> {
  const keys = ['generation', ...target.keys];
  const table = target.into;
  const measures = measuresOf(definition);
  const typeOf = (name: string): string => {
    if (name === 'generation') return 'integer';
    if (name === 'period') return 'date';
    if (definition.counts.includes(name)) return 'bigint';
    return definition.cents.includes(name) ? 'numeric' : 'text';
  };
  const columns = [...keys, ...measures];
  const from = (names: readonly string[]): string => `unnest(${names.map((name, i) => `$${i + 2}::${typeOf(name)}[]`).join(', ')}) d(${names.join(', ')})`;
  const keysOf = (some: readonly Delta[]): Buffer[] =>
    keys.map((name, i) => {
      const column = some.map(({ key }) => key[i]);
      if (name === 'generation') return binaryArrays.integer(column.map(Number));
      return name === 'period' ? binaryArrays.date(column) : binaryArrays.text(column);
    });
  const added = tx.query({
    name: `add_to_${table}`,
    text: `insert into ${table} as s (company_id, ${columns.join(', ')}) select $1, * from ${from(columns)}
      on conflict (company_id, ${keys.join(', ')}) do update set ${measures.map((name) => `${name} = s.${name} + excluded.${name}`).join(', ')}`,
    values: [companyId, ...keysOf(rows), ...measures.map((_, i) => rows.map((row) => String(row.measures[i])))],
  });
  const fewer = rows.filter((row) => definition.counts.some((_, i) => (row.measures[i] as bigint) < 0n));
  if (fewer.length === 0) return void (await added);
  const removed = tx.query({
    name: `remove_empty_of_${table}`,
    text: `delete from ${table} s using ${from(keys)} where s.company_id = $1 and ${keys.map((name) => `s.${name} = d.${name}`).join(' and ')}
      and ${definition.counts.map((name) => `s.${name} = 0`).join(' and ')}`,
    values: [companyId, ...keysOf(fewer)],
  });
  await Promise.all([added, removed]);
}
