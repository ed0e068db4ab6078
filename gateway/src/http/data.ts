// Sends data made for one request, compressed if the client accepts that and the size makes it worthwhile.
import { send, type Draining, type Headers } from './answer.ts';
import { QUICK, chooseEncoding, compressQuickly } from './encodings.ts';
import type { Exchange } from './exchange.ts';

/** Minimum size in bytes for compression; smaller bodies are not worth the time. */
const LEAST_COMPRESSED = 8192;

/** Sends a complete answer. Returns undefined if it was sent uncompressed, at once. `body` must not change before it is sent. */
export function sendSmall(exchange: Exchange, status: number, body: Buffer, type: string, extra: Headers, draining: Draining): Promise<void> | undefined {
  const asked = exchange.req.headers['accept-encoding'];
  const encoding = asked === undefined || body.length < LEAST_COMPRESSED ? undefined : chooseEncoding(asked, QUICK);
  if (encoding === undefined) {
    send(exchange, status, body, type, extra, draining);
    return undefined;
  }
  return compressQuickly(body, encoding).then((packed) => {
    if (!exchange.res.destroyed) send(exchange, status, packed, type, [...extra, 'Content-Encoding', encoding], draining);
  });
}
