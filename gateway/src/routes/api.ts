// Handles every request that is not for a public page, in this order (decisions §3, §5): authentication, limits, route, body size, the
// operation itself. If the queue is full, the request is shed before it costs anything: in ./shedding.ts, or here if the caller was not in
// the cache yet.
import { randomUUID } from 'node:crypto';
import { ApiError } from '@truckroll/contract';
import { SHED } from '@truckroll/process';
import {
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_URL_PATH,
  describeSpan,
  failSpan,
  onBehalfOf,
  readTraceparent,
  withRemoteSpan,
  type RequestContext,
} from '@truckroll/telemetry';
import type { Request, Response } from 'express';
import type { Limiter } from '../admission/limiter.ts';
import type { Authentication } from '../auth/authenticate.ts';
import type { KeyUses } from '../auth/key-uses.ts';
import { refuseBeyond, type Limits } from '../auth/limits.ts';
import type { Strangers } from '../auth/strangers.ts';
import { sendError, type Draining, type Headers } from '../http/answer.ts';
import { RequestAborted, readBody } from '../http/body.ts';
import { splitTarget, type Exchange } from '../http/exchange.ts';
import { checkSingleHeaders } from '../http/single-headers.ts';
import type { RequestLog } from '../http/request-log.ts';
import { ClientGone } from '../services.ts';
import type { CompiledOperation, Held } from './operation.ts';
import type { PublicPages } from './public-pages.ts';
import type { RouteTable } from './table.ts';

/** Delay in ms of rejections beyond a request limit. Without it, a client that ignores Retry-After keeps a processor busy. */
const REFUSAL_DELAY_MS = 100;

export interface ApiParts {
  authenticate: Authentication['authenticate'];
  strangers: Strangers;
  limits: Limits;
  keyUses: KeyUses;
  limiter: Limiter;
  /** Counts a shed request. */
  noteShed(): void;
  routes: RouteTable<CompiledOperation>;
  pages: PublicPages;
  requestLog: RequestLog;
  draining: Draining;
}

/** The application's only middleware. */
export function createApi(parts: ApiParts): (req: Request, res: Response) => void {
  const { requestLog, draining } = parts;
  return (req, res) => {
    const header = (name: string): string | undefined => req.headers[name] as string | undefined;
    // The exchange itself is not the context: the timers of an idle connection keep the context in which they were set.
    const context: RequestContext = { requestId: randomUUID(), traceparent: readTraceparent(header('traceparent')) };
    const exchange: Exchange = {
      req,
      res,
      ...context,
      peer: req.ip,
      startedAt: performance.now(),
      ...splitTarget(req.url),
    };
    res.once('close', () => requestLog.ended(exchange));
    const span = { [ATTR_HTTP_REQUEST_METHOD]: req.method, [ATTR_URL_PATH]: exchange.path };
    const extra: Headers = [];
    void onBehalfOf(context, () => withRemoteSpan(header, req.method, 'SERVER', span, () => answer(exchange, parts, extra, draining)));
  };
}

/** Never rejects. */
async function answer(exchange: Exchange, parts: ApiParts, extra: Headers, draining: Draining): Promise<void> {
  try {
    await serve(exchange, parts, extra);
  } catch (error) {
    if (error instanceof ClientGone || error instanceof RequestAborted) return;
    const told = ApiError.from(error);
    if (told.status >= 500) failSpan();
    if (told === SHED) {
      exchange.shed = true;
      parts.noteShed();
    }
    charge(exchange, parts.limiter);
    if (isLate(exchange, told, parts)) await new Promise((resolve) => setTimeout(resolve, REFUSAL_DELAY_MS));
    sendError(exchange, told, extra, draining);
  } finally {
    describeSpan({ [ATTR_HTTP_RESPONSE_STATUS_CODE]: exchange.res.headersSent ? exchange.res.statusCode : 499 });
  }
}

/** Charges the company for an error that was answered outside the limiter. */
function charge({ principal, shed, charged, startedAt }: Exchange, limiter: Limiter): void {
  if (principal === undefined || charged) return;
  const ms = performance.now() - startedAt;
  if (shed) limiter.chargeShed(principal.company_id, ms);
  else limiter.charge(principal.company_id, ms);
}

/** Whether a rejection is delayed: the client exceeds a request limit, its own, its company's, or its address's. Shed requests are not delayed. */
function isLate({ shed, peer = '' }: Exchange, { status }: ApiError, { strangers }: ApiParts): boolean {
  return !shed && (status === 429 || (status === 401 && strangers.isOver(() => peer)));
}

/** `extra` collects the headers that an error answer needs. */
async function serve(exchange: Exchange, parts: ApiParts, extra: Headers): Promise<void> {
  const { req, path } = exchange;
  checkSingleHeaders(req);
  const served = parts.pages.serve(exchange, extra);
  if (served === true || (served !== false && (await served))) return;
  const found = parts.authenticate(req.headers.authorization, () => exchange.peer ?? '');
  const principal = found instanceof Promise ? await found : found;
  exchange.principal = principal;
  if (principal.key_id != null) parts.keyUses.note(principal.company_id, principal.key_id);

  const match = parts.routes(path);
  const target = match?.targets.get(req.method);
  if (target !== undefined && parts.limiter.sheds(principal.company_id)) throw SHED;
  const counted = parts.limits.consume(principal, target?.limitClass ?? 'reads');
  refuseBeyond(exchange, counted instanceof Promise ? await counted : counted);
  if (match === undefined) {
    throw new ApiError('NOT_FOUND', 'Nothing is at this path. /openapi.json lists what there is.');
  }
  if (target === undefined) {
    const allowed = [...match.targets.keys()].toSorted().join(', ');
    extra.push('Allow', allowed);
    throw new ApiError('METHOD_NOT_ALLOWED', `This path answers ${allowed} only.`);
  }
  exchange.operation = target.operation;
  describeSpan({ [ATTR_HTTP_ROUTE]: target.operation.route, 'truckroll.company_id': principal.company_id }, `${req.method} ${target.operation.route}`);
  extra.push(...target.headers);
  target.checkAccess(exchange);
  const body = await readBody(req);
  exchange.charged = true;
  let handle: () => Promise<Held | void> = () => target.handle(exchange, match.values, body);
  for (;;) {
    const turn = parts.limiter.enter(principal.company_id);
    const call = turn instanceof Promise ? await turn : turn;
    let held: Held | void = undefined;
    try {
      // A client that went away while it waited needs no answer.
      if (!exchange.res.destroyed) held = await handle();
    } finally {
      const { res } = exchange;
      parts.limiter.leave(call, target.baseline, held === undefined && res.headersSent && res.statusCode < 400);
    }
    if (held === undefined) return;
    const answer = await held.over;
    if (answer !== undefined) return answer();
    handle = held.again;
  }
}
