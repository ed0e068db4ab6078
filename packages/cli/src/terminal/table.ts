import { onOneLine } from './printable.ts';

/** An amount of cents, shown in dollars. */
export class Dollars {
  readonly cents: number;

  constructor(cents: number) {
    this.cents = cents;
  }

  toString(): string {
    const digits = String(Math.abs(this.cents)).padStart(3, '0');
    return `${this.cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
  }
}

export type Columns<R> = Readonly<Record<string, (row: R) => unknown>>;

/** Aligned text with headings, numbers on the right; `empty` if there are no rows. */
export function table<R>(rows: readonly R[], columns: Columns<R>, empty: string): string {
  if (rows.length === 0) return empty;
  const cells = rows.map((row) => Object.values(columns).map((show) => show(row)));
  const texts = [Object.keys(columns), ...cells.map((line) => line.map(text))];
  const widths = Object.keys(columns).map((_, column) => Math.max(...texts.map((line) => width(line[column] ?? ''))));
  const right = widths.map((_, column) => cells.every((line) => isNumber(line[column]) || line[column] == null));
  return texts
    .map((line) =>
      line
        .map((cell, column) => pad(cell, widths[column] ?? 0, right[column] ?? false))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function card(fields: Readonly<Record<string, unknown>>): string {
  const longest = Math.max(...Object.keys(fields).map((name) => name.length));
  return Object.entries(fields)
    .map(([name, value]) => `${name.padEnd(longest)}  ${text(value)}`)
    .join('\n');
}

const isNumber = (value: unknown): boolean => typeof value === 'number' || value instanceof Dollars;

function text(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return value.toLocaleString('en', { maximumFractionDigits: 12 });
  if (value instanceof Dollars) return value.toString().replace(/\B(?=(\d{3})+\.)/g, ',');
  return onOneLine(typeof value === 'string' ? value : JSON.stringify(value));
}

function pad(cell: string, to: number, right: boolean): string {
  const gap = ' '.repeat(to - width(cell));
  return right ? gap + cell : cell + gap;
}

const graphemes = new Intl.Segmenter('en');
/** East Asian wide characters and emoji take two columns. */
const WIDE = /[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|\p{Emoji_Presentation}/u;

function width(cell: string): number {
  if (/^[\x20-\x7e]*$/.test(cell)) return cell.length;
  return [...graphemes.segment(cell)].reduce((sum, { segment }) => sum + (WIDE.test(segment) ? 2 : 1), 0);
}
