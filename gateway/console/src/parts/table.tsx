import type { ComponentChildren } from 'preact';

export interface Column<T> {
  readonly title: string;
  readonly cell: (row: T) => ComponentChildren;
  /** Its title is for those who do not see the column. */
  readonly quiet?: boolean;
}

interface Given<T> {
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string;
}

/**
 * A table; on a narrow screen each row is a card with the columns' titles in it. The roles say again what the elements
 * mean, for the style that makes cards of them takes that away.
 */
export function Table<T>({ caption, columns, rows, rowKey }: Given<T>) {
  return (
    <table role="table">
      <caption class="unseen">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ title, quiet }) => (
            <th key={title} role="columnheader" scope="col">
              {quiet ? <span class="unseen">{title}</span> : title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={rowKey(row)} role="row">
            {columns.map(({ title, cell, quiet }) => (
              <td key={title} role="cell" data-title={quiet ? undefined : title}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
