// One line and one observation per request, and an entry in the history of its key.
import { durations, traceIdOf, type Logger, type Metrics } from '@truckroll/telemetry';
import type { Exchange } from './exchange.ts';
import type { RequestHistory } from './request-history.ts';

/** Longest path in a log line. Unknown paths come from outside and may be anything. */
const LONGEST_PATH = 200;
/** Load balancers request these every few seconds: they are logged at debug level and have no rate limit. */
export const HEALTH = new Set(['/healthz', '/readyz']);

export interface RequestLog {
  ended(exchange: Exchange): void;
  /** The request was shed. Shed requests are logged together: a line each would cost more than everything else that a rejection takes. */
  shed(startedAt: number): void;
}

/** Log levels: debug for health checks, warn for a 503, error for any other 5xx, info for the rest. */
export function createRequestLog(log: Logger, metrics: Metrics, history?: Pick<RequestHistory, 'note'>): RequestLog {
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
    // 499 is customary for a client that went away before its answer.
    const status = res.writableFinished ? res.statusCode : 499;
    const route = operation?.route ?? (principal === undefined ? 'public' : 'none');
    requests.ended(startedAt, operation === undefined ? '_OTHER' : req.method, route, String(status));
    history?.note(exchange, status, milliseconds);
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
    // Our own defects are logged with a stack; an unavailable service with one sentence per request.
    if (HEALTH.has(exchange.path)) log.debug(fields, 'request');
    else if (status === 503) log.warn({ ...fields, reason: reasonOf(exchange.cause) }, 'request could not be served');
    else if (status >= 500) log.error({ ...fields, error: exchange.cause }, 'request failed');
    else log.info(fields, 'request');
  };
  return { ended, shed };
}

/** The innermost cause: the errors around it only say that the request could not be served. */
function reasonOf(error: unknown): string {
  return error instanceof Error && error.cause !== undefined ? reasonOf(error.cause) : String(error);
}
