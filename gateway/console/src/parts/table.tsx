import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

export interface Column<T> {
  readonly title: string;
  readonly cell: (row: T) => ComponentChildren;
  /** The column's title is for screen readers only. */
  readonly quiet?: boolean;
  /** Aligned right, so that digits are below each other. */
  readonly numeric?: boolean;
  /** What the last line of the table has in this column. */
  readonly total?: ComponentChildren;
  /** What the column is sorted by, if it can be; null is last in both directions. Only for tables that have all their rows. */
  readonly sorts?: (row: T) => number | string | null;
}

export interface TableGiven<T> {
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string;
  /** Whether the link of the class `name` covers its whole row. */
  linked?: boolean;
  /** Most rows that are shown, of the order chosen. */
  most?: number | undefined;
}

/**
 * A table, which scrolls by itself where it is too wide. On a narrow screen each row is a card. The roles are explicit, because that style removes
 * the elements' own roles.
 */
export function Table<T>({ caption, columns, rows, rowKey, linked = false, most }: TableGiven<T>) {
  const [{ by, up }, setOrder] = useState({ by: '', up: false });
  const value = columns.find(({ title }) => title === by)?.sorts;
  const ordered = value === undefined ? rows : rows.toSorted((a, b) => compare(value(a), value(b), up));
  return (
    <div class={linked ? 'scroll linked' : 'scroll'}>
      <table role="table">
        <caption class="unseen">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ title, quiet, numeric, sorts }) => (
              <th
                key={title}
                role="columnheader"
                scope="col"
                class={numeric ? 'numeric' : undefined}
                aria-sort={title !== by ? undefined : up ? 'ascending' : 'descending'}
              >
                {quiet ? <span class="unseen">{title}</span> : title}
                {sorts && (
                  <button
                    type="button"
                    class="sort"
                    aria-label={`Sort by ${title}`}
                    onClick={() => setOrder({ by: title, up: title === by ? !up : !numeric })}
                  />
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {ordered.slice(0, most).map((row) => (
            <tr key={rowKey(row)} role="row">
              {columns.map(({ title, cell, quiet, numeric }) => (
                <td key={title} role="cell" class={numeric ? 'numeric' : undefined} data-title={quiet ? undefined : title}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        {columns.some(({ total }) => total !== undefined) && (
          <tfoot role="rowgroup">
            <tr role="row">
              {columns.map(({ title, total, quiet, numeric }) => (
                <td key={title} role="cell" class={numeric ? 'numeric' : undefined} data-title={quiet ? undefined : title}>
                  {total}
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  );
}

function compare(a: number | string | null, b: number | string | null, up: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const order = typeof a === 'string' ? a.localeCompare(String(b)) : a - Number(b);
  return up ? order : -order;
}
