// The newest records of a list that begins with the oldest.
import { Problem } from './problem.ts';

/** Most records that one view loads; a narrower range or filter shows the rest. */
export const MOST_ROWS = 10_000;
const DAY_MS = 86_400_000;
/** Spans are divided until they are shorter. Then more records are read of one. */
const SHORT_MS = 120_000;

export interface Listed<T> {
  readonly records: readonly T[];
  /** Whether there are more records than requested. */
  readonly more: boolean;
}

/**
 * The last `most` records in spans that are read whole, backwards from now; `oldest` is when the first was created. Spans grow as fast as what was found
 * suggests, until one has far too many records. It is divided, and the rest is in parts of that length: growing again would find as many.
 */
export async function newestOf<T>(
  /** Reads the first records that were created between two times, at least `limit` if there are more. */
  read: (start: number, end: number | undefined, limit: number) => Promise<Listed<T>>,
  oldest: number,
  most: number,
): Promise<Listed<T>> {
  let records: readonly T[] = [];
  let end: number | undefined;
  let divided = false;
  for (let length = DAY_MS; ; ) {
    const start: number = (end ?? Date.now()) - length;
    const short = length < SHORT_MS;
    const found = await read(start, end, short ? MOST_ROWS : 2 * most);
    if (found.more && short)
      throw new Problem(`More than ${MOST_ROWS} of these were created at nearly the same time. Choose fewer days or another filter.`, {
        code: 'TOO_MANY_ROWS',
      });
    if (found.more) {
      length /= 8;
      divided = true;
      continue;
    }
    records = [...found.records, ...records];
    const whole = start <= oldest;
    if (whole || records.length >= most) return { records: records.slice(-most), more: !whole || records.length > most };
    end = start;
    if (!divided) length *= Math.min(4, most / records.length);
  }
}
