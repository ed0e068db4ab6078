// Which content coding an answer gets (RFC 9110, 12.5.3), and how one is made.
import { constants, brotliCompress, gzip, zstdCompress } from 'node:zlib';
import { promisify } from 'node:util';
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';

export type Encoding = 'br' | 'zstd' | 'gzip';

/** For data, the cheapest first (loadtest/README.md, encodings). */
export const QUICK: readonly Encoding[] = ['zstd', 'br', 'gzip'];

const [toBrotli, toZstd, toGzip] = [promisify(brotliCompress), promisify(zstdCompress), promisify(gzip)];

/** By header and what is offered: nearly every request of a client says the same. */
const chosen = new LRUCache<string, Encoding | 'identity'>({ max: 500 });
const LONGEST_KEPT = 200;

/** What negotiator's types do not tell yet: of what clients like alike, `preferred` decides. */
interface Preferring {
  encodings<T>(available: readonly T[], options?: { preferred: readonly T[] }): T[];
}

/** The first of `offered` that the client likes best; undefined where it asked for none of them, or for none at all. */
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

/** For what is made once and sent often: the last percents of size would cost ten times the time. */
export function compressWell(body: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'br') return toBrotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: body.length } });
  if (encoding === 'zstd') return toZstd(body, { params: { [constants.ZSTD_c_compressionLevel]: 12 } });
  return toGzip(body, { level: 9 });
}

/** For what is made for one request. Higher levels of each take twice the time for a tenth of the size, or for nothing. */
export function compressQuickly(body: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'zstd') return toZstd(body, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
  if (encoding === 'br') return toBrotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_SIZE_HINT]: body.length } });
  return toGzip(body, { level: 1 });
}
