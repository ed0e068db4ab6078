// Lists, details and reports, past Express's router (docs/adr/0018): the same steps, found by a map and run in one function.
import { randomUUID } from 'node:crypto';
import { SHED } from '@truckroll/process';
import type { Request, RequestHandler } from 'express';
import type { Limiter } from '../admission/limiter.ts';
import type { Authentication } from '../auth/authenticate.ts';
import type { UsesOfKeys } from '../auth/key-uses.ts';
import { sendError, type Draining } from '../http/answer.ts';
import type { Cors } from '../http/cors.ts';
import { splitTarget } from '../http/exchange.ts';
import type { RequestLog } from '../http/request-log.ts';
import { singleHeader } from '../http/single-headers.ts';
import type { RequestStep } from './middleware.ts';
import type { CompiledOperation } from './operation.ts';

export interface FastRead<T> {
  target: T;
  params: Record<string, string>;
}

export type FindRead<T> = (method: string, path: string) => FastRead<T> | undefined;

/** Finds the list, detail or report at a path. A path that needs decoding is left to the router. */
export function createFindRead<T extends Pick<CompiledOperation, 'operation'>>(targets: readonly T[]): FindRead<T> {
  const lists = new Map<string, FastRead<T>>();
  const details = new Map<string, T>();
  for (const target of targets) {
    const { verb, kind, camelCase, route } = target.operation;
    if (verb !== 'GET' || camelCase || kind === 'command') continue;
    if (route.endsWith('/{id}')) details.set(route.slice(0, -'{id}'.length), target);
    else lists.set(route, { target, params: {} });
  }
  return (method, path) => {
    if (method !== 'GET') return undefined;
    const list = lists.get(path);
    if (list !== undefined) return list;
    const start = path.lastIndexOf('/') + 1;
    const target = details.get(path.slice(0, start));
    const id = path.slice(start);
    return target === undefined || id === '' || /[%#\s]/.test(id) ? undefined : { target, params: { id } };
  };
}

/** Runs the steps of a list, detail or report. */
export function fastReads(find: FindRead<{ steps: readonly RequestStep[] }>): RequestHandler {
  return (req, res, next) => {
    const { exchange } = res.locals;
    const found = find(req.method, exchange.path);
    if (found === undefined) return next();
    req.params = found.params;
    inTurn(found.target.steps, exchange).catch(next);
  };
}

async function inTurn(steps: readonly RequestStep[], exchange: Parameters<RequestStep>[0]): Promise<void> {
  for (const step of steps) {
    const done = step(exchange);
    if (done !== undefined) await done;
  }
}

export interface SheddingParts {
  find: FindRead<unknown>;
  known: Authentication['known'];
  keyUses: UsesOfKeys;
  limiter: Limiter;
  noteShed(): void;
  requestLog: RequestLog;
  draining: Draining;
  cors: Cors | undefined;
}

/** While the queue is full: sheds these reads without a context, span or log line for each, so that a flood takes little time. */
export function shedReads({ find, known, keyUses, limiter, noteShed, requestLog, draining, cors }: SheddingParts): RequestHandler {
  const callerToShed = (req: Request) => {
    if (find(req.method, splitTarget(req.url).path) === undefined) return undefined;
    const principal = known(singleHeader(req, 'authorization'));
    return principal !== undefined && limiter.sheds(principal.company_id) ? principal : undefined;
  };
  return (req, res, next) => {
    if (!limiter.isFull) return next();
    const startedAt = performance.now();
    const principal = callerToShed(req);
    if (principal === undefined) return next();
    noteShed();
    if (principal.key_id != null) keyUses.note(principal.company_id, principal.key_id, principal.cell);
    sendError({ res, requestId: randomUUID(), cors: cors?.(splitTarget(req.url).path, singleHeader(req, 'origin')) }, SHED, [], draining);
    requestLog.shed(startedAt);
    limiter.chargeShed(principal.company_id, performance.now() - startedAt);
  };
}
