import type { ComponentChildren } from 'preact';

export interface Column<T> {
  readonly title: string;
  readonly cell: (row: T) => ComponentChildren;
  /** The column's title is for screen readers only. */
  readonly quiet?: boolean;
  /** Aligned right, so that digits are below each other. */
  readonly numeric?: boolean;
  /** What the last line of the table has in this column. */
  readonly total?: ComponentChildren;
}

export interface TableGiven<T> {
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string;
  /** Whether the link of the class `name` covers its whole row. */
  linked?: boolean;
}

/**
 * A table, which scrolls by itself where it is too wide. On a narrow screen each row is a card. The roles are explicit, because that style removes
 * the elements' own roles.
 */
export function Table<T>({ caption, columns, rows, rowKey, linked = false }: TableGiven<T>) {
  return (
    <div class={linked ? 'scroll linked' : 'scroll'}>
      <table role="table">
        <caption class="unseen">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ title, quiet, numeric }) => (
              <th key={title} role="columnheader" scope="col" class={numeric ? 'numeric' : undefined}>
                {quiet ? <span class="unseen">{title}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
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
