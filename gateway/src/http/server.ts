// The HTTP server around the application: limits slow and endless clients, answers what is not HTTP, and drains on stop.
import { randomUUID } from 'node:crypto';
import { IncomingMessage, ServerResponse, createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '@truckroll/contract';
import type { Metrics } from '@truckroll/telemetry';
import { errorBody } from './answer.ts';
import { capConnections, type ConnectionCaps } from './connections.ts';
import { limitUnanswered } from './unanswered.ts';

/**
 * Idle timeout in ms that answers announce (`Keep-Alive: timeout`). It is shorter than a drain delay, so that a client that respects it has
 * no idle connections left when the gateway stops. Closing one could lose a request that is on its way.
 */
export const ADVERTISED_KEEP_ALIVE_MS = 4_000;
const HEADERS_MS = 10_000;
/** Longest time in ms to receive a request, whose body has at most 64 KB. */
const REQUEST_MS = 20_000;
/** Time in ms without traffic after which a connection with a request in progress is closed. Longer than any call. */
export const SILENT_MS = 75_000;
/** Time in ms that a connection stays open after a rejection, so that a client that is still sending can read the answer. */
const LINGER_MS = 1000;
/** Maximum size of a request's head in bytes: a filter of a hundred ids and several other lists fit. */
export const MOST_HEADER_BYTES = 65_536;

/** An Express application: a listener, with the prototypes that it gives requests and answers. */
type Application = RequestListener & { request: IncomingMessage; response: ServerResponse };

export interface HttpServerOptions extends ConnectionCaps {
  /** Time in ms that a connection may be idle between two requests. */
  readonly keepAliveMs: number;
}

export interface HttpServer {
  /** Resolves to the bound port. Rejects if the port is taken. */
  listen(port: number, host: string): Promise<number>;
  /** After the delay: accepts no new connections, closes idle ones, lets requests finish, and cuts off those that exceed `graceMs`. */
  drain(graceMs: number, delayMs: number): Promise<void>;
}

/** Creates requests and answers with Express's prototypes: setting them on each object afterwards makes every later access slower (ADR 18). */
export function createHttpServer(app: Application, { keepAliveMs, ...caps }: HttpServerOptions, metrics: Metrics): HttpServer {
  const serve: RequestListener = (req, res) => {
    count(req, res);
    app(req, res);
  };
  const server = createServer(
    {
      IncomingMessage: withPrototype<typeof IncomingMessage>(IncomingMessage, app.request),
      ServerResponse: withPrototype<typeof ServerResponse>(ServerResponse, app.response),
      keepAliveTimeout: ADVERTISED_KEEP_ALIVE_MS,
      keepAliveTimeoutBuffer: keepAliveMs - ADVERTISED_KEEP_ALIVE_MS,
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      connectionsCheckingInterval: 2000,
      maxHeaderSize: MOST_HEADER_BYTES,
      // The application checks the Host header and answers in the API's error format.
      requireHostHeader: false,
    },
    serve,
  );
  capConnections(server, caps, metrics);
  const count = limitUnanswered(server);
  server.setTimeout(SILENT_MS);
  // An Expect other than 100-continue is ignored.
  server.on('checkExpectation', serve);
  server.on('clientError', answerClientError);
  // Without listeners, Node closes these connections without an answer. With a listener, the socket is the listener's to handle.
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy());
    refuse(socket, 400, 'Bad Request', 'This server is no proxy: it does not know CONNECT.');
  });
  return {
    listen: (port, host) => listen(server, port, host),
    async drain(graceMs, delayMs) {
      await delay(delayMs);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const cut = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(cut);
    },
  };
}

/** A subclass whose objects have this prototype. */
function withPrototype<C extends new (...args: never[]) => object>(Base: C, prototype: object): C {
  const Made = function (...args: unknown[]): object {
    return Reflect.construct(Base, args, Made) as object;
  };
  Made.prototype = prototype;
  return Made as unknown as C;
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** What the HTTP parser rejects never becomes a request, but is answered in the API's error format too (decisions §3). */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const [status, reason, message]: [number, string, string] =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? [408, 'Request Timeout', 'The request did not arrive in time. Send it again.']
      : error.code === 'HPE_HEADER_OVERFLOW'
        ? [400, 'Bad Request', 'Path, query and headers together are too large. Ask for fewer values at once.']
        : error.code === 'HPE_INVALID_METHOD'
          ? [400, 'Bad Request', 'The method is not known. Methods are in capitals: GET, POST, PATCH, DELETE.']
          : [400, 'Bad Request', 'This is not HTTP/1.1 as RFC 9112 defines it.'];
  refuse(socket, status, reason, message);
}

/** Answers on a connection that cannot serve a request, and closes it even if the client does not. */
function refuse(socket: Duplex, status: number, reason: string, message: string): void {
  const requestId = randomUUID();
  const body = errorBody(new ApiError('INVALID_REQUEST', message), requestId);
  const head = [
    `HTTP/1.1 ${status} ${reason}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: private, no-store',
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
