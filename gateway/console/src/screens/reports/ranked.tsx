import { useState } from 'preact/hooks';
import { Table, type TableGiven } from '../../parts/table.tsx';

/** Most groups that are listed at first. */
const FIRST = 25;

/** A table of groups, highest first until another order is chosen. A company may have thousands, so the rest of them are listed on request. */
export function Ranked<T>({ rows, ...given }: TableGiven<T>) {
  const [all, setAll] = useState(false);
  return (
    <>
      <Table {...given} rows={rows} most={all ? undefined : FIRST} />
      {!all && rows.length > FIRST && (
        <p class="pages">
          <button type="button" onClick={() => setAll(true)}>
            Show all {rows.length}
          </button>
        </p>
      )}
    </>
  );
}
