// The steps that a request takes between its head and its answer, in the order that api.ts gives them.
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
  isSampled,
  onBehalfOf,
  readTraceparent,
  withRemoteSpan,
  type RequestContext,
} from '@truckroll/telemetry';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import type { Limiter } from '../admission/limiter.ts';
import type { Authentication } from '../auth/authenticate.ts';
import type { HeldCallers } from '../auth/held-callers.ts';
import type { UsesOfKeys } from '../auth/key-uses.ts';
import { refuseBeyond, type LimitClass, type Limits } from '../auth/limits.ts';
import type { Strangers } from '../auth/strangers.ts';
import { clientAddress, type TrustsProxy } from '../http/addresses.ts';
import { sendError, type Draining } from '../http/answer.ts';
import { RequestAborted, readBody } from '../http/body.ts';
import type { Cors } from '../http/cors.ts';
import { splitTarget, type Exchange } from '../http/exchange.ts';
import { ignoreLongHeaders } from '../http/negotiation.ts';
import type { RequestLog } from '../http/request-log.ts';
import { ClientGone } from '../services.ts';
import type { CompiledOperation, Held } from './operation.ts';
import { routableUrl } from './paths.ts';

/** Delay in ms of rejections beyond a request limit. Without it, a client that ignores Retry-After keeps a processor busy. */
const REJECTION_DELAY_MS = 100;

/** One step of handling a request. Returns a promise only if it has to wait. Throws or rejects with ApiError. */
export type RequestStep = (exchange: Exchange) => Promise<void> | void;

/** Makes a step Express middleware. */
export function middleware(step: RequestStep): RequestHandler {
  return (_req, res, next) => {
    const done = step(res.locals.exchange);
    return done === undefined ? next() : done.then(() => next());
  };
}

/** Makes the step that answers Express middleware: nothing follows it. */
export function endpoint(step: RequestStep): RequestHandler {
  return (_req, res) => step(res.locals.exchange);
}

/** Several middleware as one: the router takes longer for each than they do (ADR 18). Only the last passes on errors; none returns a promise. */
export function combined(...handlers: RequestHandler[]): RequestHandler {
  return handlers.reduceRight((rest, handler) => (req, res, next) => handler(req, res, () => void rest(req, res, next)));
}

/** Gives a request its id, its log line and its span, which ends when the connection has taken the answer or is closed. */
export function begin(requestLog: RequestLog, trustsProxy: TrustsProxy, cors: Cors | undefined): RequestHandler {
  return (req, res, next) => {
    const header = (name: string): string | undefined => req.headers[name] as string | undefined;
    // The exchange itself is not the context: the timers of an idle connection keep the context in which they were set.
    const context: RequestContext = { requestId: randomUUID(), traceparent: readTraceparent(header('traceparent')) };
    ignoreLongHeaders(req);
    const peer = clientAddress(req, trustsProxy);
    const exchange: Exchange = { req, res, ...context, peer, startedAt: performance.now(), ...splitTarget(req.url), errorHeaders: [] };
    if (cors !== undefined) exchange.cors = cors(exchange.path, header('origin'));
    res.locals.exchange = exchange;
    res.once('close', () => requestLog.ended(exchange));
    const span = { [ATTR_HTTP_REQUEST_METHOD]: req.method, [ATTR_URL_PATH]: exchange.path };
    const handle = async (): Promise<void> => {
      next();
      if (!isSampled()) return;
      await new Promise((resolve) => res.once('close', resolve));
      describeSpan({ [ATTR_HTTP_RESPONSE_STATUS_CODE]: res.headersSent ? res.statusCode : 499 });
    };
    void onBehalfOf(context, () => withRemoteSpan(header, req.method, 'SERVER', span, handle));
  };
}

/** Makes the URL one that Express's router takes. */
export const routable: RequestHandler = (req, res, next) => {
  req.url = routableUrl(req.url, res.locals.exchange);
  next();
};

/** Sets the principal, and notes the use of its key. Errors: as Authentication.authenticate. */
export function authentication(authenticate: Authentication['authenticate'], keyUses: UsesOfKeys): RequestStep {
  const note = (exchange: Exchange, principal: NonNullable<Exchange['principal']>): void => {
    exchange.principal = principal;
    if (principal.key_id != null) keyUses.note(principal.company_id, principal.key_id, principal.cell);
  };
  return (exchange) => {
    const found = authenticate(exchange.req.headers.authorization, () => exchange.peer ?? '');
    return found instanceof Promise ? found.then((principal) => note(exchange, principal)) : note(exchange, found);
  };
}

/** Sheds the request if the queue is full and its company has the most requests in it. */
export function shedding(limiter: Limiter): RequestStep {
  return ({ principal }) => {
    if (limiter.sheds(principal!.company_id)) throw SHED;
  };
}

/** Counts the request against the limits per minute of its key and company. `route` is the path of a request without an operation, for its history. */
export function rateLimit(limits: Limits, limitClass: LimitClass, route?: string): RequestStep {
  return (exchange) => {
    if (route !== undefined) exchange.route = route;
    const state = limits.consume(exchange.principal!, limitClass);
    return state instanceof Promise ? state.then((counted) => refuseBeyond(exchange, counted)) : refuseBeyond(exchange, state);
  };
}

/** From here on, log, metrics and errors are the operation's. Rejects credentials of a kind that it does not accept. */
export function access({ operation, headers, checkAccess }: CompiledOperation): RequestStep {
  const { route, verb } = operation;
  return (exchange) => {
    exchange.operation = operation;
    describeSpan({ [ATTR_HTTP_ROUTE]: route, 'truckroll.company_id': exchange.principal!.company_id }, `${verb} ${route}`);
    exchange.errorHeaders.push(...headers);
    checkAccess(exchange);
  };
}

/**
 * Reads the body, waits for a slot of the limiter and calls the operation. An answer that is held gives up its slot until it goes on. A
 * request that has waited is authenticated again.
 */
export function operationHandler({ baseline, weight, handle }: CompiledOperation, limiter: Limiter, heldCallers: HeldCallers): RequestStep {
  return async (exchange) => {
    const { req, res, principal } = exchange;
    let authenticatedAt = exchange.startedAt;
    const body = await readBody(req);
    exchange.charged = true;
    let proceed: () => Promise<Held | void> = () => handle(exchange, Object.values(req.params) as string[], body);
    for (;;) {
      const turn = limiter.enter(principal!.company_id, weight);
      const call = turn instanceof Promise ? await turn : turn;
      let held: Held | void = undefined;
      try {
        // A client that went away while it waited needs no answer.
        if (!res.destroyed) {
          if (heldCallers.isStale(authenticatedAt)) await heldCallers.authenticate(exchange);
          held = await proceed();
        }
      } finally {
        limiter.leave(call, baseline, held === undefined && res.headersSent && res.statusCode < 400);
      }
      if (held === undefined) return;
      const answer = await heldCallers.hold(exchange, held.over);
      authenticatedAt = performance.now();
      if (answer !== undefined && (await answer()) !== false) return;
      proceed = held.again;
    }
  };
}

export function methodNotAllowed(allowed: readonly string[]): RequestStep {
  const list = allowed.toSorted().join(', ');
  return ({ errorHeaders }) => {
    errorHeaders.push('Allow', list);
    throw new ApiError('METHOD_NOT_ALLOWED', `This path answers ${list} only.`);
  };
}

export function notFound(): void {
  throw new ApiError('NOT_FOUND', 'Nothing is at this path. /openapi.json lists what there is.');
}

export interface ErrorParts {
  limiter: Limiter;
  strangers: Strangers;
  /** Counts a shed request. */
  noteShed(): void;
  draining: Draining;
}

/** Answers with the error, and charges the company for it if no slot did. */
export function errorHandler({ limiter, strangers, noteShed, draining }: ErrorParts): ErrorRequestHandler {
  return async (thrown, _req, res, _next) => {
    if (thrown instanceof ClientGone || thrown instanceof RequestAborted) return;
    const { exchange } = res.locals;
    const error = ApiError.from(thrown);
    if (error.status >= 500) failSpan();
    if (error === SHED) {
      exchange.shed = true;
      noteShed();
    }
    charge(exchange, limiter);
    if (isDelayed(exchange, error, strangers)) await new Promise((resolve) => setTimeout(resolve, REJECTION_DELAY_MS));
    sendError(exchange, error, exchange.errorHeaders, draining);
  };
}

function charge({ principal, shed, charged, startedAt }: Exchange, limiter: Limiter): void {
  if (principal === undefined || charged) return;
  const ms = performance.now() - startedAt;
  if (shed) limiter.chargeShed(principal.company_id, ms);
  else limiter.charge(principal.company_id, ms);
}

/** Whether the client exceeds a request limit: its own, its company's, or its address's. Shed requests are not delayed. */
function isDelayed({ shed, principal, peer = '' }: Exchange, { status }: ApiError, strangers: Strangers): boolean {
  const isStranger = status === 401 || (status === 503 && principal === undefined);
  return !shed && (status === 429 || (isStranger && strangers.isOver(() => peer)));
}
