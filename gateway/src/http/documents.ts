// Documents whose bytes stay the same while the process runs. Each has an ETag. Those that caches must ask for are compressed once per coding,
// at the first request; those that never change are archives.
import { createHash } from 'node:crypto';
import { send, sendHead, type Draining, type Headers } from './answer.ts';
import { chooseEncoding, compressWell, type Encoding } from './encodings.ts';
import type { Exchange } from './exchange.ts';

/** Codings, the one with the smallest result first. */
const ENCODINGS: readonly Encoding[] = ['br', 'zstd', 'gzip'];
/** Minimum size in bytes for compression; smaller bodies fit into one packet. */
const LEAST_COMPRESSED = 1400;
/** Caches ask whether a document has changed. */
const REVALIDATED = 'no-cache';
/** Caches keep a document whose address changes with its content. */
export const UNCHANGING = 'public, max-age=31536000, immutable';

export class Document {
  readonly type: string;
  readonly status: number;
  readonly body: Buffer;
  readonly headers: Headers;
  readonly #caching: string;
  readonly #etag: string;
  readonly #compressed = new Map<Encoding, Promise<Buffer>>();

  constructor(type: string, body: Buffer | string, headers: Headers = [], status = 200, caching = REVALIDATED) {
    this.type = type;
    this.status = status;
    this.body = Buffer.from(body);
    this.headers = headers;
    this.#caching = caching;
    // Weak, because it is the same for every coding.
    this.#etag = `W/"${createHash('sha256').update(this.body).digest('base64url').slice(0, 22)}"`;
  }

  /** Sends the document, or 304. `vary` lists request headers that the answer depends on; Accept-Encoding is added. */
  async send(exchange: Exchange, draining: Draining, vary: readonly string[] = []): Promise<void> {
    const { headers: asked } = exchange.req;
    const headers = [...this.headers, 'ETag', this.#etag, 'Vary', [...vary, 'Accept-Encoding'].join(', ')];
    if (this.status === 200 && matches(asked['if-none-match'], this.#etag)) {
      sendHead(exchange, 304, headers, draining, this.#caching);
      return;
    }
    const encoding = this.body.length < LEAST_COMPRESSED || this.#caching !== REVALIDATED ? undefined : chooseEncoding(asked['accept-encoding'], ENCODINGS);
    const body = encoding === undefined ? this.body : await this.#in(encoding);
    if (encoding !== undefined) headers.push('Content-Encoding', encoding);
    send(exchange, this.status, body, this.type, headers, draining, this.#caching);
  }

  #in(encoding: Encoding): Promise<Buffer> {
    let compressed = this.#compressed.get(encoding);
    if (compressed === undefined) {
      compressed = compressWell(this.body, encoding);
      this.#compressed.set(encoding, compressed);
      compressed.catch(() => this.#compressed.delete(encoding));
    }
    return compressed;
  }
}

/** If-None-Match compares weakly (RFC 9110, 13.1.2). */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const opaque = etag.replace(/^W\//, '');
  return header.trim() === '*' || header.split(',').some((each) => each.trim().replace(/^W\//, '') === opaque);
}

/**
 * Headers of a page and its files. The console shows answers of webhook endpoints: if one ever became markup, the policy would keep it from
 * loading or running anything. `connect`, `images` and `fonts` are the policy's sources of requests, images and fonts.
 */
export function pageHeaders({ connect, images, fonts = "'none'" }: { connect: string; images: string; fonts?: string }): Headers {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `connect-src ${connect}`,
    `img-src ${images}`,
    `font-src ${fonts}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  return ['Content-Security-Policy', policy.join('; '), 'Referrer-Policy', 'no-referrer', 'Cross-Origin-Opener-Policy', 'same-origin'];
}
