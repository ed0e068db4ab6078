// Computes derived fields before a batch is stored, and again when their sources change. One rule does both, so the order in which
// records arrive does not matter.
import { codec, encodeFragment } from '@truckroll/contract';
import { binaryArrays, uuidOf, type Transaction } from '@truckroll/postgres';
import { publishChanged } from './messaging.ts';
import { storedColumns } from './stored-columns.ts';
import { SEARCH, type Changed, type Table } from './table.ts';

/** Maximum rows locked, derived and updated together. */
export const DERIVED_TOGETHER = 2000;

/** The batch with its derived fields; unchanged if the table derives nothing. */
export async function withDerived<R>(tx: Transaction, table: Table<R>, companyId: string, batch: readonly Changed<R>[]): Promise<readonly Changed<R>[]> {
  if (table.derive === undefined || batch.length === 0) return batch;
  const derived = await table.derive(tx, companyId, batch);
  const type = codec(table.resource.record.typeName) as Parameters<typeof encodeFragment>[0];
  return batch.map((item) => {
    const fields = derived.get(item.id);
    if (fields === undefined) return { ...item, derived: new Uint8Array() };
    return { ...item, record: { ...item.record, ...fields }, derived: encodeFragment(type, fields) };
  });
}

/**
 * Recomputes the derived fields of stored records. Locks the rows in id order before reading their sources: a concurrent change of a source
 * is then either visible, or its own refresh waits for these rows and sees both. Skips missing ids. Returns and publishes the records that
 * changed.
 */
export async function refreshRecords<R>(tx: Transaction, table: Table<R>, companyId: string, ids: Iterable<string>): Promise<Changed<R>[]> {
  const sorted = [...new Set(ids)].sort();
  const changed: Changed<R>[] = [];
  for (let start = 0; start < sorted.length; start += DERIVED_TOGETHER) {
    changed.push(...(await refreshChunk(tx, table, companyId, sorted.slice(start, start + DERIVED_TOGETHER))));
  }
  return changed;
}

async function refreshChunk<R>(tx: Transaction, table: Table<R>, companyId: string, ids: string[]): Promise<Changed<R>[]> {
  const { decode } = codec(table.resource.record.typeName);
  const rows = await tx.queryBinary({
    name: `hold_${table.table}`,
    text: `select t.id, t.document from unnest($2::uuid[]) u(id) join ${table.table} t on t.company_id = $1 and t.id = u.id
      order by t.id for no key update of t`,
    values: [companyId, binaryArrays.uuid(ids)],
  });
  const stored = rows.map(([id, document]): Changed<R> => {
    return { id: uuidOf(id as Buffer), record: decode(document as Buffer) as R, document: document as Buffer };
  });
  const batch = await withDerived(tx, table, companyId, stored);
  if (batch.length === 0) return [];
  // Derivation changes neither the columns of the list's order nor those of the search, which other tables repeat.
  const columns = storedColumns(table).filter(({ name }) => !['document', SEARCH, ...table.order].includes(name));
  const names = columns.map(({ name }) => `"${name}"`);
  const list = (alias: string): string => names.map((name) => `${alias}.${name}`).join(', ');
  const { rows: different } = await tx.query<{ id: string }>({
    name: `refresh_${table.table}`,
    text: `update ${table.table} t set ${names.map((name) => `${name} = d.${name}`).join(', ')}
      from unnest($2::uuid[], ${columns.map(({ type }, i) => `$${i + 3}::${type}[]`).join(', ')}) d(id, ${names.join(', ')})
      where t.company_id = $1 and t.id = d.id and (${list('t')}) is distinct from (${list('d')})
      returning t.id`,
    values: [companyId, binaryArrays.uuid(batch.map(({ id }) => id)), ...columns.map(({ values }) => values(batch))],
  });
  const differing = new Set(different.map(({ id }) => id));
  const changed = batch.filter(({ id }) => differing.has(id));
  await publishChanged(tx, table, companyId, changed);
  return changed;
}
