// Sheds requests before Express, without a context, span or log line for each: a flood would take as much time as all other requests.
import { randomUUID } from 'node:crypto';
import { SHED } from '@truckroll/process';
import type { Request, Response } from 'express';
import type { Limiter } from '../admission/limiter.ts';
import type { Authentication } from '../auth/authenticate.ts';
import type { KeyUses } from '../auth/key-uses.ts';
import { sendError, type Draining } from '../http/answer.ts';
import { splitTarget } from '../http/exchange.ts';
import type { RequestLog } from '../http/request-log.ts';
import { singleHeader } from '../http/single-headers.ts';
import type { CompiledOperation } from './operation.ts';
import type { RouteTable } from './table.ts';

export interface SheddingParts {
  known: Authentication['known'];
  keyUses: KeyUses;
  limiter: Limiter;
  noteShed(): void;
  routes: RouteTable<CompiledOperation>;
  requestLog: RequestLog;
  draining: Draining;
}

/** Answers 429 and returns true if the request is shed; false leaves it to the application, as an unknown credential or path does. */
export function createShedding({ known, keyUses, limiter, noteShed, routes, requestLog, draining }: SheddingParts): (req: Request, res: Response) => boolean {
  return (req, res) => {
    if (!limiter.isFull) return false;
    const startedAt = performance.now();
    if (routes(splitTarget(req.url).path)?.targets.get(req.method) === undefined) return false;
    const principal = known(singleHeader(req, 'authorization'));
    if (principal === undefined || !limiter.sheds(principal.company_id)) return false;
    noteShed();
    if (principal.key_id != null) keyUses.note(principal.company_id, principal.key_id);
    sendError({ res, requestId: randomUUID() }, SHED, [], draining);
    requestLog.shed(startedAt);
    limiter.chargeShed(principal.company_id, performance.now() - startedAt);
    return true;
  };
}
