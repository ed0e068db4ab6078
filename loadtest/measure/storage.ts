// Cost of storing a record: time, CPU time, WAL and disk space.
import type pg from 'pg';
import { perEach, withCpu, type Groups } from './cpu.ts';

export interface Cost {
  readonly name: string;
  readonly records: number;
  readonly seconds: number;
  /** Milliseconds for a thousand records, by group of processes. */
  readonly cpu: Readonly<Record<string, number>>;
  /** Bytes of WAL per record; the next two are bytes per record too. */
  readonly log: number;
  readonly tables: number;
  readonly indexes: number;
}

/** Measures `work`, which stores records and resolves to their number. Vacuums before it measures the tables. */
export async function costOf(
  client: pg.ClientBase,
  { name, groups, schema, tables, work }: { name: string; groups: Groups; schema: string; tables: readonly string[]; work: () => Promise<number> },
): Promise<Cost> {
  const from = await position(client);
  const startedAt = performance.now();
  const { result: records, cpu } = await withCpu(groups, work);
  const seconds = (performance.now() - startedAt) / 1000;
  const log = (await position(client)) - from;
  const names = tables.map((table) => `${schema}.${table}`);
  await client.query(`vacuum (analyze) ${names.join(', ')}`);
  const { rows } = await client.query<{ tables: string; indexes: string }>(
    `select sum(pg_table_size(t::regclass)) as tables, sum(pg_indexes_size(t::regclass)) as indexes from unnest($1::text[]) t`,
    [names],
  );
  return {
    name,
    records,
    seconds,
    cpu: perEach(cpu, records / 1000),
    log: log / records,
    tables: Number(rows[0]?.tables) / records,
    indexes: Number(rows[0]?.indexes) / records,
  };
}

/** End of the write-ahead log, in bytes. */
async function position(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>(`select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as bytes`);
  return Number(rows[0]?.bytes);
}

export function costTable(costs: readonly Cost[]): string {
  const head = ['', 'records/s', 'CPU ms / 1000', 'of which', 'log B', 'tables B', 'indexes B'];
  const rows = costs.map(({ name, records, seconds, cpu, log, tables, indexes }) => [
    name,
    (records / seconds).toFixed(0),
    Object.values(cpu)
      .reduce((sum, ms) => sum + ms, 0)
      .toFixed(0),
    Object.entries(cpu)
      .map(([group, ms]) => `${group} ${ms.toFixed(0)}`)
      .join(', '),
    ...[log, tables, indexes].map((bytes) => bytes.toFixed(0)),
  ]);
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] as string).length)));
  return `${all
    .map((row) =>
      row
        .map((cell, column) => ([0, 3].includes(column) ? cell.padEnd(widths[column] as number) : cell.padStart(widths[column] as number)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')}\n`;
}
