/** Limits of one request. */
const MOST_EVENTS = 500;
const MOST_BYTES = 2 * 1024 * 1024;

/** Load of the events as a share of what one request can carry. */
export function loadOf<T>(events: readonly T[], sizeOf: (event: T) => number): number {
  return events.reduce((sum, event) => sum + Math.max(1 / MOST_EVENTS, sizeOf(event) / MOST_BYTES), 0);
}

/** Splits the events, in order, into batches that fit in one request. An event that is too large gets its own batch. */
export function* batches<T>(events: readonly T[], sizeOf: (event: T) => number): Generator<readonly T[]> {
  let batch: T[] = [];
  let load = 0;
  for (const event of events) {
    const own = loadOf([event], sizeOf);
    if (batch.length > 0 && load + own > 1) {
      yield batch;
      batch = [];
      load = 0;
    }
    batch.push(event);
    load += own;
  }
  if (batch.length > 0) yield batch;
}
