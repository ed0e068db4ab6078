import { useState } from 'preact/hooks';
import { Table, type Column } from './table.tsx';

/** Lines of a list that are shown at first. */
const FIRST = 5;

interface Given<T> {
  of: readonly T[];
  caption: string;
  /** Said if there are no records. */
  none: string;
  columns: readonly Column<T>[];
}

/** The first lines of a list, and the rest on request. */
export function Rows<T extends { id: string }>({ of: records, caption, none, columns }: Given<T>) {
  const [all, setAll] = useState(false);
  if (records.length === 0) return <p class="soft">{none}</p>;
  return (
    <>
      <Table linked caption={caption} columns={columns} rows={all ? records : records.slice(0, FIRST)} rowKey={({ id }) => id} />
      {!all && records.length > FIRST && (
        <p class="pages">
          <button type="button" class="small" onClick={() => setAll(true)}>
            Show all {records.length}
          </button>
        </p>
      )}
    </>
  );
}
