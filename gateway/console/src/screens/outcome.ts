// The result of an attempt in a few words.
import type { Attempt, Delivery } from '../api/types.ts';
import { duration } from '../parts/time.tsx';

/** A sentence without its full stop, for use within another sentence. */
const unstopped = (text: string): string => text.replace(/\.\s*$/, '');

/** Why no response came: "Timed out after 15 s", "The connection was refused". */
export function reason({ error, errorMessage, startedAt, endedAt }: Attempt): string {
  if (error === 'TIMEOUT') return `Timed out after ${Math.round((Date.parse(endedAt) - Date.parse(startedAt)) / 1000)} s`;
  return unstopped(errorMessage ?? error ?? 'Nothing came back');
}

/** "500 in 35 ms", or why there is no response. */
export function outcome(attempt: Attempt): string {
  const { response, startedAt, endedAt, error } = attempt;
  if (response === null) return reason(attempt);
  // Without a kind of error, the status says enough.
  return `${response.status} in ${duration(startedAt, endedAt)}${error === null ? '' : `: ${reason(attempt)}`}`;
}

/** When the next attempt is due, if that is in the future. */
export function nextTry({ status, nextAttemptAt }: Delivery): string | undefined {
  return status === 'pending' && nextAttemptAt !== null && Date.parse(nextAttemptAt) > Date.now() ? nextAttemptAt : undefined;
}
