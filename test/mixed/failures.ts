// What counts as a request that was not served.
import type { Attempt } from '../faults/writes/history.ts';

/** What the client did itself, by hanging up, is no failure; it does so within this many milliseconds. */
const HANG_UP_MS = 1000;

/** Why an attempt was not served; undefined where it was, refusals that follow from its visit's state included. */
export function failureOf({ key, write, answer, lost, invokedAt, endedAt }: Attempt): string | undefined {
  const what = `${write.kind} on visit ${write.visitId} by ${key}`;
  if (answer === undefined) {
    const hungUp = lost?.startsWith('TimeoutError') === true && endedAt - invokedAt < HANG_UP_MS;
    return hungUp ? undefined : `${what}: ${lost}`;
  }
  return answer.status === 429 || answer.status >= 500 ? `${what}: ${answer.status} ${answer.code ?? ''}` : undefined;
}
