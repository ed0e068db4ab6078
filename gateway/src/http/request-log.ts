// One line and one observation per request.
import { durations, traceIdOf, type Logger, type Metrics } from '@truckroll/service-kit';
import type { Exchange } from './exchange.ts';

/** Paths that nothing is at come from outside and may be anything. */
const LONGEST_PATH = 200;
/** Load balancers ask for these every few seconds: they are logged at debug and have no rate limit. */
export const HEALTH = new Set(['/healthz', '/readyz']);

export interface RequestLog {
  /** Its answer has ended, or its connection. */
  ended(exchange: Exchange): void;
  /** It was refused as too much of its company was under way: told of together, for a line for each would cost more than all else that is done for it. */
  shed(startedAt: number): void;
}

export function createRequestLog(log: Logger, metrics: Metrics): RequestLog {
  const requests = durations(
    metrics,
    'http_server_request_duration_seconds',
    'Requests from their head to the end of the answer; 499 where the client went away, route `public` for pages, `none` where nothing is',
    ['http_request_method', 'http_route', 'http_response_status_code'],
  );

  const shed = (startedAt: number): void => requests.ended(startedAt, '_OTHER', 'none', '429');
  const ended = (exchange: Exchange): void => {
    const { req, res, operation, principal, startedAt, errorCode } = exchange;
    const milliseconds = performance.now() - startedAt;
    if (exchange.shed === true) return shed(startedAt);
    // A client that went away before its answer; the number is the customary one.
    const status = res.writableFinished ? res.statusCode : 499;
    const route = operation?.route ?? (principal === undefined ? 'public' : 'none');
    requests.ended(startedAt, operation === undefined ? '_OTHER' : req.method, route, String(status));
    const fields: Record<string, unknown> = {
      requestId: exchange.requestId,
      traceId: traceIdOf(exchange),
      method: req.method,
      route,
      path: exchange.path.slice(0, LONGEST_PATH),
      status,
      ms: Math.round(milliseconds * 100) / 100,
      bytes: exchange.bytes ?? 0,
      peer: exchange.peer,
    };
    if (principal !== undefined) {
      fields.companyId = principal.company_id;
      if (principal.key_id != null) fields.keyId = principal.key_id;
      else fields.userId = principal.user_id;
    }
    if (errorCode !== undefined) fields.code = errorCode;
    // A stack for each of our defects; a peer that is away needs one sentence for each of its requests.
    if (HEALTH.has(exchange.path)) log.debug(fields, 'request');
    else if (status === 503) log.warn({ ...fields, reason: reasonOf(exchange.cause) }, 'request could not be served');
    else if (status >= 500) log.error({ ...fields, error: exchange.cause }, 'request failed');
    else log.info(fields, 'request');
  };
  return { ended, shed };
}

/** The innermost cause: the errors around it say only that the request could not be served. */
function reasonOf(error: unknown): string {
  return error instanceof Error && error.cause !== undefined ? reasonOf(error.cause) : String(error);
}
