// Reprojects records from their stored documents, in transactions of one company's batch (docs/adr/0005).
import { codec } from '@truckroll/contract';
import { arrayOf, isContention, isUnavailable, type Database, type Transaction } from '@truckroll/postgres';
import { withDerived } from './derive.ts';
import { entriesBefore, writeEntries } from './entries.ts';
import { idType } from './list-query.ts';
import { RECORD_SIZE, portionsOf } from './large.ts';
import { lockCompany } from './lock.ts';
import { publishChanged } from './messaging.ts';
import { checkProjected, companiesBehind } from './projection.ts';
import type { Projection, ReprojectOptions } from './reprojector.ts';
import { storedColumns } from './stored-columns.ts';
import { SEARCH, type Changed, type Table } from './table.ts';
import { relink } from './upsert.ts';

/** Rows per transaction: small, so that it does not hold row locks or the process for long. */
const BATCH = 100;
/** Columns that only find a record, quoted. */
const FINDING = new Set([`"${SEARCH}"`, '"number"']);
/** Version of rows that older rules wrote after newer ones had been announced. */
const BY_OLDER_RULES = 0;

/** For the Reprojector: renews the rows of a table that earlier rules wrote. Rows that the present rules refuse are reported once, and skipped in that pass. */
export function recordProjection(database: Database, table: Table): Projection {
  const { path, version } = table;
  return {
    path,
    table: table.table,
    version,
    /** Companies take turns, so that one with few records does not wait for one with millions. */
    async renew(work: ReprojectOptions): Promise<void> {
      const refused: string[] = [];
      for (let companies = await companiesBehind(database, table); companies.length > 0; ) {
        const more: string[] = [];
        for (const companyId of companies) {
          const count = await renewBatch(database, table, companyId, refused, work);
          if (count > 0) more.push(companyId);
        }
        companies = more;
      }
    },
  };
}

/** Returns how many rows it processed: 0 if only refused ones are left. */
async function renewBatch<R>(database: Database, table: Table<R>, companyId: string, refused: string[], work: ReprojectOptions): Promise<number> {
  const startedAt = performance.now();
  const { rows } = await database.query<{ id: string; size: number }>({
    name: `take_behind_${table.table}`,
    text: `select id, ${RECORD_SIZE} as size from ${table.table} where company_id = $1 and projection < ${table.version} and id <> all($2::${idType(table)}[])
      order by projection limit ${BATCH}`,
    values: [companyId, refused],
  });
  const ids = portionsOf(rows)[0]?.sort() ?? [];
  const renew = (some: readonly string[]): Promise<void> => {
    work.signal.throwIfAborted();
    return database.transaction((tx) => renewRows(tx, table, companyId, some), { retryContention: true, signal: work.signal });
  };
  try {
    if (ids.length > 0) await renew(ids);
    work.renewed(ids.length);
  } catch {
    for (const id of ids) {
      try {
        await renew([id]);
        work.renewed(1);
      } catch (reason) {
        if (isPassing(reason, work)) throw reason;
        refused.push(id);
        work.refused({ company_id: companyId, id, reason: String(reason) });
      }
    }
  }
  await work.rest(performance.now() - startedAt);
  return ids.length;
}

function isPassing(error: unknown, { signal }: ReprojectOptions): boolean {
  return signal.aborted || isUnavailable(error) || isContention(error);
}

/**
 * Recomputes columns, derived part and links of some rows by the current rules. Consequences are applied for rows that changed, and for all
 * rows that older rules wrote, since those rules did not know the newer consequences.
 */
async function renewRows<R>(tx: Transaction, table: Table<R>, companyId: string, ids: readonly string[]): Promise<void> {
  await lockCompany(tx, companyId);
  const { decode } = codec(table.resource.record.typeName);
  const remembered = table.remembers ?? [];
  const find = async (name: string, lock: string) => {
    const { rows } = await tx.query<{ id: string; document: Buffer; projection: number; entries: string | null; before: Record<string, unknown> }>({
      name: `${name}_behind_${table.table}`,
      text: `select ${table.search === undefined ? 'null' : entriesBefore('t')} as entries,
          ${['id', 'document', 'projection', ...remembered.filter((column) => column !== 'document')].map((column) => `t.${column}`).join(', ')}
        from unnest($2::${idType(table)}[]) u(id) join ${table.table} t on t.company_id = $1 and t.id = u.id
        where t.projection < ${table.version} order by t.id ${lock}`,
      values: [companyId, ids],
    });
    return rows;
  };
  const changedOf = ({ id, document, projection, entries: _, ...columns }: Awaited<ReturnType<typeof find>>[number]): Changed<R> => {
    const before = Object.fromEntries(remembered.map((name) => [name, name === 'document' ? document : (columns as Record<string, unknown>)[name]]));
    return { id, document, record: decode(document) as R, ...(projection === BY_OLDER_RULES ? {} : { before }) };
  };
  if (table.lockFirst !== undefined) await table.lockFirst(tx, companyId, (await find('see', '')).map(changedOf));
  const rows = await find('hold', 'for no key update of t');
  if (rows.length === 0) return;
  const batch = await withDerived(tx, table, companyId, rows.map(changedOf));
  const differing = await store(tx, table, companyId, batch);
  await writeEntries(tx, table, companyId, batch, new Map(rows.flatMap(({ id, entries }) => (entries === null ? [] : [[id, entries] as const]))));
  await relink(tx, table, companyId, batch);
  const byOlderRules = new Set(rows.filter(({ projection }) => projection === BY_OLDER_RULES).map(({ id }) => id));
  const changed = batch.filter(({ id }) => differing.has(id) || byOlderRules.has(id));
  if (changed.length === 0) return;
  await table.afterChange?.(tx, companyId, changed);
  await publishChanged(tx, table, companyId, changed);
}

/** Writes the projected values with their version. Returns the ids of the rows that changed. */
async function store<R>(tx: Transaction, table: Table<R>, companyId: string, batch: readonly Changed<R>[]): Promise<Set<string>> {
  const columns = storedColumns(table).filter(({ name }) => name !== 'document' && name !== 'id');
  const names = columns.map(({ name }) => `"${name}"`);
  // Columns that only find a record change nothing that is published or follows from it.
  const list = (alias: string): string =>
    names
      .filter((name) => !FINDING.has(name))
      .map((name) => `${alias}.${name}`)
      .join(', ');
  const { rows } = await tx.query<{ id: string; differs: boolean; projection: number }>({
    name: `renew_${table.table}`,
    text: `update ${table.table} t set projection = ${table.version}, ${names.map((name) => `${name} = n.${name}`).join(', ')}
      from (
        select d.*, row(${list('o')}) is distinct from row(${list('d')}) as differs
        from unnest($2::${idType(table)}[], ${columns.map(({ type }, i) => `$${i + 3}::${type}[]`).join(', ')}) d(id, ${names.join(', ')})
        join ${table.table} o on o.company_id = $1 and o.id = d.id
      ) n
      where t.company_id = $1 and t.id = n.id
      returning t.id, n.differs, t.projection`,
    values: [
      companyId,
      arrayOf(
        idType(table),
        batch.map(({ id }) => id),
      ),
      ...columns.map(({ values }) => values(batch)),
    ],
  });
  checkProjected(rows, table);
  return new Set(rows.filter(({ differs }) => differs).map(({ id }) => id));
}
