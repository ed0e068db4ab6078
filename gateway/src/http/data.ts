// Answers with data, made for one request: compressed where the client asks for it and it pays.
import { send, type Draining, type Headers } from './answer.ts';
import { QUICK, chooseEncoding, compressQuickly } from './encodings.ts';
import type { Exchange } from './exchange.ts';

/** Below this the time is better spent otherwise. Bytes. */
const LEAST_COMPRESSED = 8192;

/** Sends an answer whose bytes are complete; undefined at once where it goes as it is. `body` is not changed before it is sent. */
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
