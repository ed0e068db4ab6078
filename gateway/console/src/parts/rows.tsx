import { useState } from 'preact/hooks';
import type { Listed } from '../api/reports.ts';
import { number } from './figures.ts';
import { ShowAll } from './show-all.tsx';
import { Table, type Column } from './table.tsx';

/** Lines of a list that are shown at first. */
const FIRST = 5;

/** "12", or "500 of more" beside the title of a list. */
export const howMany = ({ records, more }: Listed<unknown>): string => `${number(records.length)}${more ? ' of more' : ''}`;

/** The caption of a list that was sorted after it was read. A part of it may lack the newest. */
export const newestFirst = (title: string, { more }: Listed<unknown>): string => `${title}, ${more ? 'only some of them' : 'newest first'}`;

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
      {!all && records.length > FIRST && <ShowAll count={records.length} first={FIRST} onShow={() => setAll(true)} />}
    </>
  );
}
