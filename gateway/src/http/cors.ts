// Answers to scripts of other origins in browsers (CORS, decisions §17): of the listed origins below /v1 and /api/v1 and at /mcp, of every origin for
// public files.
import { ApiError } from '@truckroll/contract';
import type { RequestHandler } from 'express';
import { AddressCounts, networkOf } from './addresses.ts';
import { sendHead, type Draining, type Headers } from './answer.ts';

const EXPOSED = 'X-Request-Id, RateLimit-Policy, RateLimit, Retry-After, Link, Location, Idempotent-Replayed, Deprecation, Sunset, ETag, Content-Disposition';
/** A wildcard does not cover Authorization. */
const PREFLIGHT: Headers = [
  ...['Access-Control-Allow-Methods', 'GET, POST, PUT, PATCH, DELETE'],
  ...['Access-Control-Allow-Headers', 'Authorization, *'],
  // The longest time in seconds that Chromium keeps one.
  ...['Access-Control-Max-Age', '7200'],
];
const ALLOW = 'Access-Control-Allow-Origin';
const EVERYONE: Headers = [ALLOW, '*', 'Access-Control-Expose-Headers', EXPOSED];
const NO_ONE: Headers = ['Vary', 'Origin'];

/** The headers of every answer at a path to a request with this Origin. */
export type Cors = (path: string, origin: string | undefined) => Headers | undefined;

/** Undefined without origins: then no answer of the API has headers for other origins. */
export function createCors(origins: readonly string[]): Cors | undefined {
  if (origins.length === 0) return undefined;
  const allowed = new Map(origins.map((origin): [string, Headers] => [origin, [ALLOW, origin, 'Access-Control-Expose-Headers', EXPOSED, 'Vary', 'Origin']]));
  return (path, origin) => (isOfApi(path) ? ((origin === undefined ? undefined : allowed.get(origin)) ?? NO_ONE) : undefined);
}

function isOfApi(path: string): boolean {
  return /^\/((api\/)?v1(\/|$)|mcp$)/.test(path);
}

/** Files that scripts of every origin may read. */
function isForEveryone(path: string): boolean {
  return path === '/openapi.json' || path.startsWith('/clients/') || path.startsWith('/.well-known/oauth-protected-resource');
}

/**
 * Middleware that opens public files to every origin, and answers preflight requests of allowed origins. They have no credential, so they
 * are limited by address: `perMinute` of them. Throws ApiError 429.
 */
export function preflights({ perMinute, draining }: { perMinute: number; draining: Draining }): RequestHandler {
  const counts = new AddressCounts();
  return (req, res, next) => {
    const { exchange } = res.locals;
    if (isForEveryone(exchange.path)) exchange.cors = EVERYONE;
    const { origin, 'access-control-request-method': method } = req.headers;
    if (req.method !== 'OPTIONS' || origin === undefined || method === undefined || exchange.cors?.[0] !== ALLOW) return next();
    const { count, resetSeconds } = counts.add(networkOf(exchange.peer ?? ''));
    if (count > perMinute) {
      throw new ApiError('RATE_LIMITED', `More than ${perMinute} preflight requests in a minute came from this address. Go on after the time in Retry-After.`, {
        retryAfterSeconds: resetSeconds,
      });
    }
    sendHead(exchange, 204, PREFLIGHT, draining);
  };
}
