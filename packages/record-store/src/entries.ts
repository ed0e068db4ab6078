// Keeps the entries by which lists find records (docs/adr/0020): one row for each entry of a record's column `search`.
import { arrayOf, binaryArrays, type Transaction } from '@truckroll/postgres';
import { SEARCH, type Changed, type Table } from './table.ts';

interface Entry {
  id: string;
  value: string;
  /** In microseconds. */
  createdAt: number;
}

/** SQL: what `writeEntries` needs of a row before it changes, its time in microseconds and its entries. */
export function entriesBefore(row: string): string {
  return `(extract(epoch from ${row}.created_at) * 1000000)::bigint || coalesce(${row}.${SEARCH}, E'\\n')`;
}

/** Writes the entries that stored records gained, and deletes those that they lost. `before` is `entriesBefore` by id; absent for new records. */
export async function writeEntries<R>(
  tx: Transaction,
  table: Table<R>,
  companyId: string,
  changed: readonly Changed<R>[],
  before: ReadonlyMap<string, string>,
): Promise<void> {
  const { search } = table;
  if (search === undefined) return;
  const now = entriesOf(table, changed);
  if (now.length === 0 && before.size === 0) return;
  const stored = [...before].flatMap(([id, text]) => {
    const [createdAt, ...values] = text.split('\n').filter((part) => part !== '');
    return values.map((value): Entry => ({ id, value, createdAt: Number(createdAt) }));
  });
  const had = new Set(stored.map(keyOf));
  const added = had.size === 0 ? now : now.filter((entry) => !had.has(keyOf(entry)));
  const kept = had.size === 0 ? had : new Set(now.map(keyOf));
  const gone = stored.filter((entry) => !kept.has(keyOf(entry)));
  // In the order of the index, so that neighbours share its pages.
  added.sort((a, b) => (a.value < b.value ? -1 : a.value > b.value ? 1 : 0));
  const deleting =
    gone.length > 0 &&
    tx.query({
      name: `drop_${search.table}`,
      text: `delete from ${search.table} e using unnest($2::text[], $3::timestamptz[], $4::uuid[]) gone(value, created_at, id)
        where e.company_id = $1 and e.value = gone.value and e.created_at = gone.created_at and e.id = gone.id`,
      values: [companyId, ...arraysOf(gone)],
    });
  const inserting =
    added.length > 0 &&
    tx.query({
      name: `add_${search.table}`,
      text: `insert into ${search.table} (company_id, value, created_at, id)
        select $1, * from unnest($2::text[], $3::timestamptz[], $4::uuid[]) on conflict do nothing`,
      values: [companyId, ...arraysOf(added)],
    });
  await Promise.all([deleting, inserting]);
}

function entriesOf<R>({ columns }: Table<R>, changed: readonly Changed<R>[]): Entry[] {
  const valueOf = (record: R, name: string): unknown => columns.find((column) => column.name === name)?.of?.(record as never);
  return changed.flatMap(({ id, record }) => {
    const createdAt = valueOf(record, 'created_at') as number;
    const values = String(valueOf(record, SEARCH))
      .split('\n')
      .filter((value) => value !== '');
    return values.map((value) => ({ id, value, createdAt }));
  });
}

const keyOf = ({ id, value, createdAt }: Entry): string => `${id} ${createdAt} ${value}`;

function arraysOf(entries: readonly Entry[]): unknown[] {
  return [
    arrayOf(
      'text',
      entries.map(({ value }) => value),
    ),
    arrayOf(
      'timestamptz',
      entries.map(({ createdAt }) => createdAt),
    ),
    binaryArrays.uuid(entries.map(({ id }) => id)),
  ];
}
