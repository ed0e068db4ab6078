// Stores records: one statement per batch, then their links. Unchanged records are not written.
import { setImmediate as turn } from 'node:timers/promises';
import { codec, encodeMessage } from '@truckroll/contract';
import { arrayOf, binaryArrays, type Transaction } from '@truckroll/postgres';
import { handled } from '@truckroll/process';
import { asRead } from './as-read.ts';
import { withDerived } from './derive.ts';
import { entriesBefore, writeEntries } from './entries.ts';
import { idType } from './list-query.ts';
import { publishChanged } from './messaging.ts';
import { storedColumns } from './stored-columns.ts';
import { idOf, type Changed, type Link, type Table } from './table.ts';

export interface Upserted<R> {
  created: number;
  changed: Changed<R>[];
  unchanged: number;
}

export type Encoded<R> = Pick<Changed<R>, 'id' | 'record' | 'document'>;

export function encodeRecord<R>(table: Table<R>, record: R): Encoded<R> {
  return { id: idOf(table, record), record, document: encodeMessage(codec(table.resource.record.typeName), record) };
}

/**
 * Stores records of one company, runs the table's afterChange for new and changed ones, and publishes them. If a batch repeats an id, the
 * last record wins.
 */
export function upsertRecords<R>(tx: Transaction, table: Table<R>, companyId: string, records: readonly R[]): Promise<Upserted<R>> {
  return upsertEncoded(
    tx,
    table,
    companyId,
    records.map((record) => encodeRecord(table, record)),
  );
}

/** Like upsertRecords, for records that are already encoded. Calls `whileWaiting` once the statement that stores the rows is sent. */
export async function upsertEncoded<R>(
  tx: Transaction,
  table: Table<R>,
  companyId: string,
  records: readonly Encoded<R>[],
  whileWaiting?: () => void,
): Promise<Upserted<R>> {
  const byId = new Map<string, Changed<R>>(records.map((record) => [record.id, record]));
  await table.lockFirst?.(tx, companyId, [...byId.values()]);
  const recalled = handled(recall(tx, table, companyId, byId));
  // Pipelined with the queries of `derive`, unless those may need the remembered columns.
  if (table.remembers !== undefined) await recalled;
  const batch = await withDerived(tx, table, companyId, [...byId.values()]);
  await recalled;
  for (const item of batch) byId.set(item.id, item);
  const columns = storedColumns(table);
  const names = columns.map(({ name }) => `"${name}"`);
  const storing = handled(
    tx.query<{ id: string; created: boolean; before: string | null }>({
      name: `upsert_${table.table}`,
      text: `insert into ${table.table} as t (company_id, projection, ${names.join(', ')})
      select $1, ${table.version}, * from unnest(${columns.map(({ type }, i) => `$${i + 2}::${type}[]`).join(', ')})
      on conflict (company_id, id) do update set projection = excluded.projection, ${names.map((name) => `${name} = excluded.${name}`).join(', ')}
      where t.document <> excluded.document
      returning id, xmax = 0 as created, ${beforeOf(table)} as before`,
      values: [companyId, ...columns.map(({ values }) => values(batch))],
    }),
  );
  if (whileWaiting !== undefined) {
    whileWaiting();
    // After the statement has been sent.
    await turn();
    if (table.publishes !== undefined) for (const item of batch) item.shown = asRead(table, item);
  }
  const { rows } = await storing;
  const changed = rows.map(({ id }) => byId.get(id) as Changed<R>);
  if (changed.length > 0) {
    const entriesOfChanged = new Map(rows.flatMap(({ id, before }) => (before === null ? [] : [[id, before] as const])));
    // Pipelined with what follows: anything published there about the same records comes later.
    const published = handled(publishChanged(tx, table, companyId, changed));
    const found = handled(writeEntries(tx, table, companyId, changed, entriesOfChanged));
    await relink(tx, table, companyId, changed);
    await table.afterChange?.(tx, companyId, changed);
    await Promise.all([published, found]);
  }
  return { created: rows.filter((row) => row.created).length, changed, unchanged: batch.length - changed.length };
}

/** SQL: the entries of a row that is replaced. A subquery of RETURNING reads rows as they were before the statement. */
function beforeOf<R>({ table, search }: Table<R>): string {
  if (search === undefined) return 'null';
  return `case when xmax <> 0 then (select ${entriesBefore('o')} from ${table} o where o.company_id = $1 and o.id = t.id) end`;
}

/** Locks the rows that a batch will replace, so that derived fields are still right when they are stored, and reads the remembered columns. */
async function recall<R>(tx: Transaction, table: Table<R>, companyId: string, byId: Map<string, Changed<R>>): Promise<void> {
  if (table.derive === undefined && table.remembers === undefined) return;
  const { rows } = await tx.query<{ id: string } & Record<string, unknown>>({
    name: `recall_${table.table}`,
    text: `select ${['id', ...(table.remembers ?? [])].map((name) => `t.${name}`).join(', ')}
      from unnest($2::${idType(table)}[]) u(id) join ${table.table} t on t.company_id = $1 and t.id = u.id
      order by t.id for no key update of t`,
    values: [companyId, arrayOf(idType(table), [...byId.keys()])],
  });
  for (const { id, ...before } of rows) byId.set(id, { ...(byId.get(id) as Changed<R>), before });
}

/** Writes the links of stored records: their own, and those that other records contribute. */
export async function relink<R>(tx: Transaction, table: Table<R>, companyId: string, changed: readonly Changed<R>[]): Promise<void> {
  for (const link of Object.values(table.links)) {
    const { of } = link;
    if (of === undefined) continue;
    const pairs = changed.flatMap(({ id, record }) => [...new Set(of(record))].map((value) => ({ id, value })));
    await writeLinks(
      tx,
      table,
      link,
      companyId,
      changed.map(({ id }) => id),
      pairs,
    );
  }
  for (const maintain of table.maintained) await maintain(tx, companyId, changed);
}

async function writeLinks(
  tx: Transaction,
  table: Pick<Table, 'table' | 'order'>,
  { table: link, type = 'uuid' }: Pick<Link<never>, 'table' | 'type'>,
  companyId: string,
  ids: readonly string[],
  pairs: readonly { id: string; value: string }[],
): Promise<void> {
  const list = (alias: string): string => table.order.map((name) => `${alias}.${name}`).join(', ');
  const linked = binaryArrays.uuid(pairs.map((pair) => pair.id));
  const values = arrayOf(
    type,
    pairs.map((pair) => pair.value),
  );
  await tx.query({
    name: `unlink_${link}`,
    text: `delete from ${link} l using unnest($2::uuid[]) gone(id) where l.company_id = $1 and l.id = gone.id
      and (l.value, ${list('l')}) not in (
        select kept.value, ${list('t')} from unnest($3::uuid[], $4::${type}[]) kept(id, value)
        join ${table.table} t on t.company_id = $1 and t.id = kept.id)`,
    values: [companyId, binaryArrays.uuid(ids), linked, values],
  });
  if (pairs.length === 0) return;
  await tx.query({
    name: `link_${link}`,
    text: `insert into ${link} (company_id, value, ${table.order.join(', ')})
      select t.company_id, p.value, ${list('t')}
      from unnest($2::uuid[], $3::${type}[]) p(id, value) join ${table.table} t on t.company_id = $1 and t.id = p.id
      on conflict do nothing`,
    values: [companyId, linked, values],
  });
}
