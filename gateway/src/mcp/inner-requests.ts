// Requests that a tool call makes to the API: through the whole application, in this process, over a connection in memory (docs/adr/0022).
import { createServer, request, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { duplexPair } from 'node:stream';
import type { Exchange } from '../http/exchange.ts';

/** A record or row of the API, as JSON. */
export type Json = Readonly<Record<string, unknown>>;

/** What the API answers, by operation: a record or a page of them, or an error. */
export interface ApiBody {
  readonly data: unknown;
  readonly pagination?: { readonly next_cursor?: string | null; readonly nextCursor?: string | null };
  readonly nextCursor?: string;
  readonly hasMore?: boolean;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly details: readonly { readonly field: string; readonly code: string; readonly message: string }[];
    readonly request_id: string;
  };
}

export interface InnerAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: ApiBody;
}

export interface InnerRequest {
  method?: 'GET' | 'POST' | 'DELETE';
  /** Path with query. */
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/** Bytes for the arguments of a call as a query: they have at most 64 KB before they are percent-encoded. */
const MOST_HEAD = 512 * 1024;

/** Rejects if the connection ends without an answer. */
export type InnerRequests = (outer: Exchange, asked: InnerRequest) => Promise<InnerAnswer>;

/** The application then sees the credential and the network address of the outer request, and no other header of it. */
export function createInnerRequests(app: RequestListener): InnerRequests {
  // Never listens. The connection of the outer request counts against the caps already.
  const server = createServer({ requireHostHeader: false, maxHeaderSize: MOST_HEAD }, app);
  return (outer, { method = 'GET', path, headers, body }) =>
    new Promise((resolve, reject) => {
      const [ours, theirs] = duplexPair();
      // A stream in memory has neither. It needs no time limit: the outer connection has one.
      Object.defineProperties(theirs, { remoteAddress: { value: outer.peer }, setTimeout: { value: () => theirs } });
      const text = body === undefined ? undefined : JSON.stringify(body);
      const sent = request({
        method,
        path,
        createConnection: () => ours,
        headers: {
          authorization: outer.req.headers.authorization ?? '',
          connection: 'close',
          ...(outer.traceparent !== undefined && { traceparent: outer.req.headers['traceparent'] as string }),
          ...(text !== undefined && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
          ...headers,
        },
      });
      const abandon = (): void => void sent.destroy(new Error('the client has gone away'));
      outer.res.once('close', abandon);
      sent.once('close', () => outer.res.off('close', abandon));
      sent.once('error', reject);
      sent.once('response', (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.once('error', reject);
        response.once('end', () => {
          const received = Buffer.concat(parts).toString();
          try {
            resolve({ status: response.statusCode as number, headers: response.headers, body: JSON.parse(received) as ApiBody });
          } catch (error) {
            reject(error);
          }
        });
      });
      server.emit('connection', theirs);
      sent.end(text);
    });
}
