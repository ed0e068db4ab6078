// Writing answers: the headers that every one has (decisions §3), and the error envelope.
import type { ApiError } from '@truckroll/contract';
import { type ErrorDetail } from '@truckroll/contract';
import type { Exchange } from './exchange.ts';

/** Header names and values in turn, as writeHead takes them fastest. */
export type Headers = string[];

export const JSON_TYPE = 'application/json';

/** Set while the gateway drains: connections end with the answer that they wait for. */
export interface Draining {
  active: boolean;
}

/** Of everything that is a company's own. */
const PRIVATE = 'private, no-store';

/** Of an exchange, what an answer is written by, and what is noted of it. */
type Answering = Pick<Exchange, 'res' | 'requestId' | 'limit' | 'bytes'>;

/** Sends an answer that is complete. A text goes to the socket with its head, in one piece. */
export function send(exchange: Answering, status: number, body: Buffer | string, type: string, extra: Headers, draining: Draining, caching = PRIVATE): void {
  const { res, limit } = exchange;
  const bytes = Buffer.byteLength(body);
  const headers: Headers = [
    'Content-Type',
    type,
    'Content-Length',
    String(bytes),
    'Cache-Control',
    caching,
    'X-Content-Type-Options',
    'nosniff',
    'X-Request-Id',
    exchange.requestId,
  ];
  if (limit !== undefined) {
    const { policy, quota, remaining, resetSeconds } = limit;
    headers.push('RateLimit-Policy', `"${policy}";q=${quota};w=60`, 'RateLimit', `"${policy}";r=${remaining};t=${resetSeconds}`);
  }
  exchange.bytes = bytes;
  if (draining.active) headers.push('Connection', 'close');
  for (const part of extra) headers.push(part);
  res.writeHead(status, headers);
  res.end(body);
}

/** Sends an answer that has no body, such as a 304. */
export function sendHead({ res, requestId }: Exchange, status: number, extra: Headers, draining: Draining, caching = PRIVATE): void {
  res.writeHead(status, ['Cache-Control', caching, 'X-Request-Id', requestId, ...(draining.active ? ['Connection', 'close'] : []), ...extra]).end();
}

function sendJson(exchange: Answering, status: number, body: string, extra: Headers, draining: Draining): void {
  send(exchange, status, body, JSON_TYPE, extra, draining);
}

/** Answers with an error; `extra` are headers of the error's own, such as Allow. */
export function sendError(exchange: Answering & Pick<Exchange, 'errorCode' | 'cause'>, error: ApiError, extra: Headers, draining: Draining): void {
  if (exchange.res.headersSent || exchange.res.destroyed) return;
  exchange.errorCode = error.code;
  exchange.cause = error.cause ?? error.message;
  const headers = [...extra];
  if (error.status === 401) headers.push('WWW-Authenticate', 'Bearer');
  if (error.retryAfterSeconds !== undefined) headers.push('Retry-After', String(error.retryAfterSeconds));
  sendJson(exchange, error.status, errorBody(error, exchange.requestId), headers, draining);
}

export function errorBody({ code, message, details }: ApiError, requestId: string): string {
  return JSON.stringify({ error: { code, message, request_id: requestId, details: details.map(plain) } });
}

/** What came over gRPC has nulls where nothing was said. */
function plain(detail: ErrorDetail): Record<string, unknown> {
  return Object.fromEntries(Object.entries(detail).filter(([, value]) => value !== undefined && value !== null));
}
