import type { ErrorDetail, Operation } from '@truckroll/contract';
import type { Principal } from '@truckroll/contract/gen/integrations/v1/identity';
import type { RequestContext } from '@truckroll/telemetry';
import type { Request, Response } from 'express';

/** What a caller has left of its request limit. */
export interface LimitState {
  /** Name of the policy: `default`, `reports`, `writes`, or `company`, `company-reports`, `company-writes`. */
  policy: string;
  quota: number;
  remaining: number;
  resetSeconds: number;
  /** Whether this is the company's limit over all its keys and users, rather than the caller's own. */
  ofCompany: boolean;
}

/** One request and its answer, with what the steps of routes/middleware.ts have found out. */
export interface Exchange extends RequestContext {
  readonly req: Request;
  readonly res: Response;
  readonly requestId: string;
  /** The caller's address; X-Forwarded-For counts only from trusted proxies. */
  readonly peer: string | undefined;
  /** performance.now() when the request's head had arrived. */
  readonly startedAt: number;
  /** The path, without the query. */
  readonly path: string;
  /** The query, without `?`. */
  readonly query: string;
  /** Headers that an error answer needs. */
  readonly errorHeaders: string[];
  /** Headers for scripts of other origins, if there are any. */
  cors?: readonly string[] | undefined;
  /** WWW-Authenticate of a 401. Default: `Bearer`. */
  challenge?: string;
  principal?: Principal;
  limit?: LimitState;
  operation?: Operation;
  /** Path template of what the request is for, from before its operation is set: also of a request beyond a limit. */
  route?: string;
  /** The queue was full, so the answer is 429. */
  shed?: boolean;
  /** The request has a slot or waits for one, so the limiter charges its company. */
  charged?: boolean;
  /** All writes in the body are counted against the limits. */
  counted?: boolean;
  /** Size of the answer's body. */
  bytes?: number;
  errorCode?: string;
  /** The error's details. */
  details?: readonly ErrorDetail[];
  /** The error's cause, for the log only. */
  cause?: unknown;
}

declare global {
  // oxlint-disable-next-line typescript/no-namespace -- Express's way to type `res.locals`
  namespace Express {
    interface Locals {
      exchange: Exchange;
    }
  }
}

/** The relative reference from a path to the root, for links that work whatever prefix a proxy adds: `../` from `/docs/start`. */
export function rootFrom(path: string): string {
  return '../'.repeat(Math.max(0, path.split('/').length - 2));
}

/** Splits the request target into path and query. Also accepts the absolute form (`GET http://host/path`) that proxies send. */
export function splitTarget(url: string): { path: string; query: string } {
  const target = url.replace(/^[a-z]+:\/\/[^/?]*/i, '');
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  return { path: path === '' ? '/' : path, query: mark < 0 ? '' : target.slice(mark + 1) };
}
