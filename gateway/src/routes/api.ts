// The Express application: its middleware in order (decisions §3, §5), its routes, its error handler.
import type { RequestListener } from 'node:http';
import type { Operation } from '@truckroll/contract';
import express, { type Express, type RequestHandler } from 'express';
import type { Authentication } from '../auth/authenticate.ts';
import type { HeldCallers } from '../auth/held-callers.ts';
import type { UsesOfKeys } from '../auth/key-uses.ts';
import type { Limits } from '../auth/limits.ts';
import { trustProxies } from '../http/addresses.ts';
import type { Cors } from '../http/cors.ts';
import { checkSingleHeaders } from '../http/single-headers.ts';
import type { RequestLog } from '../http/request-log.ts';
import { createFindRead, fastReads, shedReads } from './fast-reads.ts';
import {
  access,
  authentication,
  begin,
  combined,
  endpoint,
  errorHandler,
  methodNotAllowed,
  middleware,
  notFound,
  operationHandler,
  rateLimit,
  routable,
  shedding,
  type ErrorParts,
  type RequestStep,
} from './middleware.ts';
import type { CompiledOperation } from './operation.ts';
import { pathsOf } from './paths.ts';

/** The endpoint of assistants. */
export interface McpRoute {
  path: string;
  /** WWW-Authenticate of its 401. */
  challenge: string;
  /** Its step, which makes requests of the application itself. */
  serve(app: RequestListener): RequestStep;
}

export interface ApiParts extends ErrorParts {
  authentication: Authentication;
  limits: Limits;
  keyUses: UsesOfKeys;
  heldCallers: HeldCallers;
  operations: readonly Operation[];
  compile(operation: Operation): CompiledOperation;
  /** Undefined if no origins are configured. */
  cors: Cors | undefined;
  preflights: RequestHandler;
  publicPages: RequestHandler;
  mcp: McpRoute;
  requestLog: RequestLog;
  trustedProxies: readonly string[];
}

/** Compiles all operations and builds the application. Throws if an operation cannot be compiled. */
export function createApi(parts: ApiParts): Express {
  const { limiter, limits, keyUses, heldCallers, requestLog, mcp } = parts;
  const { authenticate, known } = parts.authentication;
  const all = parts.operations.map(parts.compile);

  const authenticated: RequestStep = authentication(authenticate, keyUses);
  const singleHeaders: RequestStep = ({ req }) => checkSingleHeaders(req);
  const countAsRead = rateLimit(limits, 'reads');
  const checksOf = (target: CompiledOperation): RequestStep[] => [
    shedding(limiter),
    rateLimit(limits, target.limitClass, target.operation.route),
    access(target),
  ];
  const find = createFindRead(
    all.map((target) => ({ ...target, steps: [singleHeaders, authenticated, ...checksOf(target), operationHandler(target, limiter, heldCallers)] })),
  );

  const app = express().disable('x-powered-by').disable('etag').disable('query parser').enable('case sensitive routing').enable('strict routing');
  const trustsProxy = trustProxies(app, parts.trustedProxies);

  app.use(combined(shedReads({ ...parts, find, known }), begin(requestLog, trustsProxy, parts.cors), fastReads(find)));
  app.use(routable);
  app.use(middleware(singleHeaders));
  app.use(parts.preflights);
  app.use(parts.publicPages);
  app.all(
    mcp.path,
    middleware((exchange) => void Object.assign(exchange, { challenge: mcp.challenge, route: mcp.path })),
  );
  app.use(middleware(authenticated));

  app
    .route(mcp.path)
    .post(middleware(shedding(limiter)), endpoint(mcp.serve(app)))
    .all([countAsRead, methodNotAllowed(['POST'])].map(middleware));

  for (const { path, targets } of pathsOf(all)) {
    const countHere = rateLimit(limits, 'reads', targets[0]?.operation.route);
    const refuse = [countHere, methodNotAllowed(targets.map(({ operation }) => operation.verb))].map(middleware);
    // Express would answer HEAD as GET.
    const route = app.route(path).head(refuse);
    for (const target of targets) {
      const verb = target.operation.verb.toLowerCase() as Lowercase<Operation['verb']>;
      route[verb](checksOf(target).map(middleware), endpoint(operationHandler(target, limiter, heldCallers)));
    }
    route.all(refuse);
  }

  app.use([countAsRead, notFound].map(middleware));
  app.use(errorHandler(parts));
  return app;
}
