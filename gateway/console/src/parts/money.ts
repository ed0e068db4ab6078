// Amounts in dollars from integer cents, without floating-point arithmetic.
import { withMinus } from './figures.ts';

const EXACT = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const WHOLE = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', notation: 'compact', maximumFractionDigits: 1 });

/** "1234.05" of 123405 */
export function decimal(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** "$1,234.05" */
export const dollars = (cents: number): string => withMinus(EXACT.format(decimal(cents) as Intl.StringNumericLiteral));

/** "$9,234.05", and "$12,346" from $10,000 on: for tiles. */
export const tileDollars = (cents: number): string => (Math.abs(cents) < 1_000_000 ? dollars(cents) : withMinus(WHOLE.format(cents / 100)));

/** "$1.2K", for axes */
export const shortDollars = (cents: number): string => withMinus(SHORT.format(cents / 100));
