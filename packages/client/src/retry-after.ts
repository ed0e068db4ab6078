/** Whole seconds that a Retry-After header asks for: 0 for a past date; undefined if it is neither a number nor an HTTP date. */
export function retryAfterSeconds(text: string | null, nowMs = Date.now()): number | undefined {
  if (text === null) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  // Date.parse accepts much more than the three forms of RFC 9110, which begin with the name of a day. One has no time zone.
  const at = /^[MTWFS][a-z]{2,8},? /.test(text) ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`) : NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - nowMs) / 1000));
}
