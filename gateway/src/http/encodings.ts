// Chooses an answer's content coding (RFC 9110, 12.5.3) and compresses.
import { constants, brotliCompress, gzip, zstdCompress } from 'node:zlib';
import { promisify } from 'node:util';
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';

export type Encoding = 'br' | 'zstd' | 'gzip';

/** Codings for data, the cheapest first: for lists, zstd takes 25 % more CPU time than no coding, br as much and gzip 39 %. */
export const QUICK: readonly Encoding[] = ['zstd', 'br', 'gzip'];

const [toBrotli, toZstd, toGzip] = [promisify(brotliCompress), promisify(zstdCompress), promisify(gzip)];

/** Chosen coding by header and offer: a client sends the same header with nearly every request. */
const chosen = new LRUCache<string, Encoding | 'identity'>({ max: 500 });
const LONGEST_KEPT = 200;

/** A parameter that is missing from negotiator's types: `preferred` decides between codings that the client ranks equally. */
interface Preferring {
  encodings<T>(available: readonly T[], options?: { preferred: readonly T[] }): T[];
}

/** The coding that the client prefers, the first of `offered` among equals. Undefined if it accepts none of them or prefers none at all. */
export function chooseEncoding(header: string | string[] | undefined, offered: readonly Encoding[]): Encoding | undefined {
  if (header === undefined || header === '') return undefined;
  const text = String(header);
  const known = `${offered.join()} ${text}`;
  let encoding = chosen.get(known);
  if (encoding === undefined) {
    const all = [...offered, 'identity'] as const;
    const negotiator = new Negotiator({ headers: { 'accept-encoding': text } }) as unknown as Preferring;
    [encoding = 'identity'] = negotiator.encodings(all, { preferred: all });
    if (text.length <= LONGEST_KEPT) chosen.set(known, encoding);
  }
  return encoding === 'identity' ? undefined : encoding;
}

/** For documents that are compressed once and sent often. The last few percent of size would take ten times as long. */
export function compressWell(body: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'br') return toBrotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: body.length } });
  if (encoding === 'zstd') return toZstd(body, { params: { [constants.ZSTD_c_compressionLevel]: 12 } });
  return toGzip(body, { level: 9 });
}

/** For data compressed once per request. Higher levels take twice as long for a tenth of the size or for nothing. */
export function compressQuickly(body: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'zstd') return toZstd(body, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
  if (encoding === 'br') return toBrotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_SIZE_HINT]: body.length } });
  return toGzip(body, { level: 1 });
}
