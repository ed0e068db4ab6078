/** Aligns the first and the last column to the left, the others to the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const isText = (column: number): boolean => column === 0 || column === head.length - 1;
  const lineOf = (row: readonly string[]): string =>
    row.map((cell, column) => (isText(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  ');
  return all.map((row) => `${lineOf(row).trimEnd()}\n`).join('');
}

export function rounded(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}
