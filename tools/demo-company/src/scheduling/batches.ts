/** A batch: three consecutive jobs of one business, invoiced separately and paid together. Every BATCH_EVERY-th run has one. */
export const BATCH_RUN = 16;
const BATCH_EVERY = 3;
export const BATCH_FIRST = 5;
export const BATCH_JOBS = 3;

export function isBatched(n: number): boolean {
  const place = (n % BATCH_RUN) - BATCH_FIRST;
  return Math.floor(n / BATCH_RUN) % BATCH_EVERY === 0 && place >= 0 && place < BATCH_JOBS;
}
