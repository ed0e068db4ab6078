import type { Attempt } from '../faults/writes/history.ts';

/** A request that ends within this many milliseconds was ended by the client, which is not a failure. */
const HANG_UP_MS = 1000;

/** Why an attempt failed; undefined when it succeeded or was refused because of its visit's state. */
export function failureOf({ key, write, answer, lost, invokedAt, endedAt }: Attempt): string | undefined {
  const what = `${write.kind} on visit ${write.visitId} by ${key}`;
  if (answer === undefined) {
    const hungUp = lost?.startsWith('TimeoutError') === true && endedAt - invokedAt < HANG_UP_MS;
    return hungUp ? undefined : `${what}: ${lost}`;
  }
  return answer.status === 429 || answer.status >= 500 ? `${what}: ${answer.status} ${answer.code ?? ''}` : undefined;
}
