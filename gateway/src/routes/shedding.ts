// Rejects excess requests before Express, without a context, span or log line for each: a flood would take as much time as all other
// requests.
import { randomUUID } from 'node:crypto';
import type { Request, Response } from 'express';
import type { Admission } from '../admission/admission.ts';
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
  admission: Admission;
  routes: RouteTable<CompiledOperation>;
  requestLog: RequestLog;
  draining: Draining;
}

/** Returns a function that runs before the application: it answers 429 and returns true if the company queues too much. Requests of unknown callers go on. */
export function createShedding({ known, keyUses, admission, routes, requestLog, draining }: SheddingParts): (req: Request, res: Response) => boolean {
  return (req, res) => {
    if (!admission.crowded) return false;
    const startedAt = performance.now();
    const target = routes(splitTarget(req.url).path)?.targets.get(req.method);
    if (target === undefined) return false;
    const principal = known(singleHeader(req, 'authorization'));
    if (principal === undefined || !target.bulkhead.refuses(principal.company_id)) return false;
    target.bulkhead.asked(principal.company_id);
    admission.refused();
    if (principal.key_id != null) keyUses.note(principal.company_id, principal.key_id);
    sendError({ res, requestId: randomUUID() }, admission.refusal, [], draining);
    requestLog.shed(startedAt);
    return true;
  };
}
