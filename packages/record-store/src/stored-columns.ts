import { arrayOf, binaryArrays } from '@truckroll/postgres';
import type { Changed, Table } from './table.ts';

/** A column of a statement that stores a batch. */
interface StoredColumn<R> {
  /** Quote it: a record may have a field whose name SQL reserves. */
  readonly name: string;
  readonly type: string;
  /** The column's value of each record, as a parameter for unnest. */
  readonly values: (batch: readonly Changed<R>[]) => unknown;
}

const NOTHING = new Uint8Array();

/** The columns that a record itself fills, its document, and its derived part if the table derives one. Maintained columns are not among them. */
export function storedColumns<R>({ columns, derive }: Table<R>): StoredColumn<R>[] {
  const own = columns.flatMap(({ name, type, of }): StoredColumn<R>[] => {
    if (of === undefined) return [];
    const valueOf = ({ record }: Changed<R>): unknown => of(record as never);
    return [{ name, type, values: (batch) => arrayOf(type, batch.map(valueOf)) }];
  });
  const document: StoredColumn<R> = { name: 'document', type: 'bytea', values: (batch) => binaryArrays.bytea(batch.map((item) => item.document)) };
  const derived: StoredColumn<R> = { name: 'derived', type: 'bytea', values: (batch) => binaryArrays.bytea(batch.map((item) => item.derived ?? NOTHING)) };
  return [...own, document, ...(derive === undefined ? [] : [derived])];
}
