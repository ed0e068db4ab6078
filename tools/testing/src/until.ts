import { inspect } from 'node:util';

/** Pause between two looks in ms: a fifth of the time waited so far, within these bounds. Each look costs the system under test a request. */
const PAUSE_MS = { least: 25, most: 250 };
/** Enough for several retries of a delivery, but less than a test's own limit, so that a failure names what was waited for. */
const AT_MOST_MS = 50_000;
const MOST_SHOWN = 2000;

export interface Polling {
  atMostMs?: number;
  /** A fixed pause instead. */
  everyMs?: number;
}

/** For effects between services that no event announces. Rejects after 50 s with `what`, which completes "waited for …", and the last seen value. */
export async function until<T>(
  what: string,
  look: () => Promise<T> | T,
  isRight: (value: T) => boolean = Boolean,
  { atMostMs = AT_MOST_MS, everyMs }: Polling = {},
): Promise<T> {
  for (const startedAt = performance.now(); ; ) {
    const value = await look();
    if (isRight(value)) return value;
    const waitedMs = performance.now() - startedAt;
    if (waitedMs > atMostMs) {
      throw new Error(`waited for ${what} for ${atMostMs / 1000} s; seen last: ${inspect(value, { depth: 6 }).slice(0, MOST_SHOWN)}`);
    }
    const pauseMs = everyMs ?? Math.min(Math.max(waitedMs / 5, PAUSE_MS.least), PAUSE_MS.most);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
