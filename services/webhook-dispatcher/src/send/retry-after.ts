/** Upper bound, ten years: more means never, and dates stay within their limits. */
const MOST_SECONDS = 315_360_000;

/** Delay in whole seconds from `nowMs` that a Retry-After header requests; 0 for a past date, undefined if it is absent or invalid. */
export function retryAfterSeconds(value: string | undefined, nowMs: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Math.min(Number(text), MOST_SECONDS);
  // Date.parse accepts much that is not an HTTP date. All three forms in RFC 9110 begin with the name of a day.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(text)) return undefined;
  // The asctime form has no time zone and means UTC too.
  const at = Date.parse(/GMT$/.test(text) ? text : `${text} GMT`);
  return Number.isNaN(at) ? undefined : Math.min(Math.max(0, Math.ceil((at - nowMs) / 1000)), MOST_SECONDS);
}
