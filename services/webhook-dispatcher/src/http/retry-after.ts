/** Ten years: whoever asks for more means never, and numbers stay far from their limits. */
const MOST_SECONDS = 315_360_000;

/**
 * What a Retry-After header asks for, in whole seconds from `nowMs`; undefined where it is absent or wrong. A date in the
 * past asks for nothing, 0.
 */
export function retryAfterSeconds(value: string | undefined, nowMs: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Math.min(Number(text), MOST_SECONDS);
  // Date.parse takes much that is no HTTP date; all three forms of RFC 9110 begin with a day's name.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(text)) return undefined;
  // The form of asctime names no zone, and means UTC as well.
  const at = Date.parse(/GMT$/.test(text) ? text : `${text} GMT`);
  return Number.isNaN(at) ? undefined : Math.min(Math.max(0, Math.ceil((at - nowMs) / 1000)), MOST_SECONDS);
}
