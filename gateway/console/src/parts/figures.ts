// Numbers of deliveries in words.
import { MOST_BACKLOG, type Bucket, type Figures } from '../api/types.ts';

const WHOLE = new Intl.NumberFormat();
const TENTHS = new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** With a real minus (U+2212) in place of a hyphen. */
export const withMinus = (text: string): string => text.replace('-', '\u2212');

export const number = (value: number): string => withMinus(WHOLE.format(value));

/** "48.0": with one decimal, always. */
export const tenths = (value: number): string => withMinus(TENTHS.format(value));

/** "99.3 %". Never rounds up to 100 %. */
export function percent(share: number): string {
  return `${tenths((share === 1 ? 1000 : Math.min(999, Math.round(share * 1000))) / 10)} %`;
}

/** "1 delivery", "10,000 deliveries" */
export const deliveries = (count: number): string => `${number(count)} ${count === 1 ? 'delivery' : 'deliveries'}`;

/** A backlog in words: "1 delivery waits", "10,000 deliveries or more wait" */
export function waiting(count: number): string {
  return count === 1 ? '1 delivery waits' : `${deliveries(count)}${count >= MOST_BACKLOG ? ' or more' : ''} wait`;
}

/** "1 delivery that waits is", "10,000 deliveries or more that wait are" */
export const thatWait = (count: number): string =>
  count === 1 ? '1 delivery that waits is' : `${deliveries(count)}${count >= MOST_BACKLOG ? ' or more' : ''} that wait are`;

/** "412 delivered, 3 failed" */
export const counts = ({ delivered, failed }: Pick<Bucket | Figures, 'delivered' | 'failed'>): string =>
  `${number(delivered)} delivered, ${number(failed)} failed`;

export const attempts = ({ delivered, failed }: Pick<Bucket, 'delivered' | 'failed'>): number => delivered + failed;
