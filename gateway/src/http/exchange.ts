import type { Request, Response } from 'express';
import type { Operation } from '@truckroll/contract';
import type { RequestContext } from '@truckroll/service-kit';
import type { Principal } from '@truckroll/contract/gen/integrations/v1/identity';

/** Where a caller stands in its request limit. */
export interface LimitState {
  /** Name of the policy: `default`, `reports`, `writes`, or `company`, `company-reports`, `company-writes`. */
  policy: string;
  /** Requests per window. */
  quota: number;
  remaining: number;
  /** Until the window starts anew. */
  resetSeconds: number;
  /** Whether it is the company's over all its keys and users, rather than the caller's own. */
  ofCompany: boolean;
}

/** One request and what has been found out about it on its way. */
export interface Exchange extends RequestContext {
  readonly req: Request;
  readonly res: Response;
  readonly requestId: string;
  /** The caller's address, as far as proxies in front are believed. */
  readonly peer: string | undefined;
  /** performance.now() when the request's head had arrived. */
  readonly startedAt: number;
  /** The path, without the query. */
  readonly path: string;
  /** The query, without `?`. */
  readonly query: string;
  principal?: Principal;
  limit?: LimitState;
  operation?: Operation;
  /** Refused at once as too much of its company was under way. */
  shed?: boolean;
  /** Its time has been charged to its company. */
  charged?: boolean;
  /** Of the answer's body. */
  bytes?: number;
  /** Public code of the error that was answered. */
  errorCode?: string;
  /** What only operators see of the error that was answered. */
  cause?: unknown;
}

/** Splits the target; the absolute form (`GET http://host/path`) that proxies send counts as its path. */
export function splitTarget(url: string): { path: string; query: string } {
  const target = url.startsWith('/') ? url : url.replace(/^[a-z]+:\/\/[^/?]*/i, '');
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  return { path: path === '' ? '/' : path, query: mark < 0 ? '' : target.slice(mark + 1) };
}
