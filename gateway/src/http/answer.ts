// Writing answers: the headers that every one has (decisions §3), and the error envelope.
import type { ApiError, ErrorDetail } from '@truckroll/contract';
import type { Exchange } from './exchange.ts';

/** Header names and values in turn: the fastest form for writeHead. */
export type Headers = string[];

export const JSON_TYPE = 'application/json';

/** `active` while the gateway drains: each connection then closes after its current answer. */
export interface Draining {
  active: boolean;
}

/** Cache-Control of company data. */
const PRIVATE = 'private, no-store';

/** What writing an answer reads and records of an exchange. */
type Answering = Pick<Exchange, 'res' | 'requestId' | 'limit' | 'bytes' | 'cors'>;

/** Sends a complete answer. If the body is a string, head and body reach the socket as one write. */
export function send(exchange: Answering, status: number, body: Buffer | string, type: string, extra: Headers, draining: Draining, caching = PRIVATE): void {
  const { res, limit, cors } = exchange;
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
  if (cors !== undefined) headers.push(...cors);
  res.writeHead(status, headers);
  res.end(body);
}

/** Sends an answer without a body, such as a 304. */
export function sendHead({ res, requestId, cors = [] }: Exchange, status: number, extra: Headers, draining: Draining, caching = PRIVATE): void {
  res.writeHead(status, ['Cache-Control', caching, 'X-Request-Id', requestId, ...(draining.active ? ['Connection', 'close'] : []), ...extra, ...cors]).end();
}

/** Answers with an error; `extra` are headers of this error, such as Allow. */
export function sendError(
  exchange: Answering & Pick<Exchange, 'errorCode' | 'details' | 'cause' | 'challenge'>,
  error: ApiError,
  extra: Headers,
  draining: Draining,
): void {
  if (exchange.res.headersSent || exchange.res.destroyed) return;
  exchange.errorCode = error.code;
  exchange.details = error.details;
  exchange.cause = error.cause ?? error.message;
  const headers = [...extra];
  if (error.status === 401) headers.push('WWW-Authenticate', exchange.challenge ?? 'Bearer');
  if (error.retryAfterSeconds !== undefined) headers.push('Retry-After', String(error.retryAfterSeconds));
  send(exchange, error.status, errorBody(error, exchange.requestId), JSON_TYPE, headers, draining);
}

export function errorBody({ code, message, details }: ApiError, requestId: string): string {
  return JSON.stringify({ error: { code, message, request_id: requestId, details: details.map(plain) } });
}

/** Details that came over gRPC have nulls for absent values. */
function plain(detail: ErrorDetail): Record<string, unknown> {
  return Object.fromEntries(Object.entries(detail).filter(([, value]) => value !== null));
}
