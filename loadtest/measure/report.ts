import type { Figures } from './rounds.ts';

const HEAD = ['', 'req/s', '÷ baseline', 'range', 'p50 ms', '÷ baseline', 'p99 ms', 'kB', 'CPU ms', 'of which'];

export function table(title: string, figures: ReadonlyMap<string, Figures>): string {
  const [first] = figures.values();
  const rows = [...figures].map(([name, { perSecond, p50, p99, bytes, cpu, range }]) => [
    name,
    perSecond.toFixed(0),
    (perSecond / (first?.perSecond ?? NaN)).toFixed(2),
    range.map((value) => value.toFixed(0)).join('–'),
    p50.toFixed(2),
    (p50 / (first?.p50 ?? NaN)).toFixed(2),
    p99.toFixed(2),
    (bytes / 1000).toFixed(1),
    Object.values(cpu)
      .reduce((sum, ms) => sum + ms, 0)
      .toFixed(2),
    Object.entries(cpu)
      .map(([group, ms]) => `${group} ${ms.toFixed(2)}`)
      .join(', '),
  ]);
  const all = [HEAD, ...rows];
  const widths = HEAD.map((_, column) => Math.max(...all.map((row) => (row[column] as string).length)));
  const lines = all.map((row) =>
    row
      .map((cell, column) => (column === 0 || column === row.length - 1 ? cell.padEnd(widths[column] as number) : cell.padStart(widths[column] as number)))
      .join('  ')
      .trimEnd(),
  );
  return `${title}\n${lines.join('\n')}\n`;
}

export function rounded(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}
