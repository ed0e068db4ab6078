// Figures of reports in words, and how they compare.
import { number, tenths } from '../../parts/figures.ts';
import { dollars, shortDollars } from '../../parts/money.ts';
import { TileDollars } from '../../parts/tile-amount.tsx';
import type { Kind, Measure } from './definitions.ts';

/** "32.5 %" */
const share = (value: number): string => `${tenths(Math.round(value * 1000) / 10)} %`;

export function figure(value: number | null | undefined, kind: Kind): string {
  if (value === null || value === undefined) return '–';
  return kind === 'money' ? dollars(value) : kind === 'count' ? number(value) : share(value);
}

/** For an axis. */
export const shortFigure = (value: number, kind: Kind): string => (kind === 'money' ? shortDollars(value) : figure(value, kind));

/** "+12.0 %"; the difference in points for a share; "new" from nothing. */
export function change(now: number | null, before: number | null, kind: Kind): string {
  if (now === null || before === null) return '–';
  const signed = (value: number, unit: string): string => `${value > 0 ? '+' : ''}${tenths(value)} ${unit}`;
  if (kind === 'share') return signed(Math.round((now - before) * 1000) / 10, 'points');
  if (before === 0) return now === 0 ? 'unchanged' : 'new';
  return signed(Math.round(((now - before) / Math.abs(before)) * 1000) / 10, '%');
}

export const figureOf = (sums: Readonly<Record<string, unknown>>, { key, kind }: Measure): string => figure(sums[key] as number | null, kind);

export function TileFigure({ sums, measure: { key, kind } }: { sums: Readonly<Record<string, unknown>>; measure: Measure }) {
  const value = sums[key] as number | null;
  return kind === 'money' && value != null ? <TileDollars cents={value} /> : <>{figure(value, kind)}</>;
}
