// Headers by which clients choose between forms of an answer (RFC 9110, 12.5), with a limit on what is parsed (decisions §17).
import type { IncomingMessage } from 'node:http';
import Negotiator from 'negotiator';

/** Maximum size in bytes of a negotiated or compared header; browsers send about 150. Parsing 64 KB takes longer than serving a request. */
const LONGEST = 1024;
const IS_NEGOTIATED = /^(accept|accept-.*|if-.*|prefer)$/;
/** Parameters of media ranges other than `q`, which may be quoted. */
const PARAMETERS = /;(?!\s*q\s*=)[^;,=]*(=\s*("(?:[^"\\]|\\.)*"|[^;,]*))?/gi;

/** Removes negotiated and compared headers above the limit, so that nothing parses them. Repeated headers count together. */
export function ignoreLongHeaders({ headers, rawHeaders }: Pick<IncomingMessage, 'headers' | 'rawHeaders'>): void {
  let size = 0;
  // Node joins the values of repeated headers with a comma and a space.
  for (let i = 1; i < rawHeaders.length; i += 2) size += (rawHeaders[i] as string).length + 2;
  if (size <= LONGEST) return;
  for (const [name, value = ''] of Object.entries(headers)) if (value.length > LONGEST && IS_NEGOTIATED.test(name)) delete headers[name];
}

/**
 * The media type that the client prefers, the first of `offered` among equals; undefined if it accepts none. Parameters such as `charset`
 * do not matter, because each type has only one form.
 */
export function preferredType<T extends string>({ headers: { accept } }: Pick<IncomingMessage, 'headers'>, offered: readonly T[]): T | undefined {
  return new Negotiator({ headers: { accept: accept?.replace(PARAMETERS, '') } }).mediaTypes([...offered])[0] as T | undefined;
}
