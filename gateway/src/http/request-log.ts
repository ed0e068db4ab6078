// One line and one observation per request.
import type { Logger, Metrics } from '@truckroll/service-kit';
import type { Exchange } from './exchange.ts';

/** Paths that nothing is at come from outside and may be anything. */
const LONGEST_PATH = 200;

export type RequestLog = (exchange: Exchange) => void;

export function createRequestLog(log: Logger, metrics: Metrics): RequestLog {
  const seconds = metrics.histogram('http_server_seconds', 'Time from a request to the end of its answer', ['method', 'route', 'status']);
  const observers = new Map<string, { observe(seconds: number): void }>();

  return (exchange) => {
    const { req, res, operation, principal, startedAt, errorCode } = exchange;
    const milliseconds = performance.now() - startedAt;
    // A client that went away before its answer; the number is the customary one.
    const status = res.writableFinished ? res.statusCode : 499;
    const route = operation?.route ?? (principal === undefined ? 'public' : 'none');
    const method = operation === undefined ? 'any' : req.method;
    const labels = `${method} ${route} ${status}`;
    let observer = observers.get(labels);
    if (observer === undefined) observers.set(labels, (observer = seconds.of({ method, route, status: String(status) })));
    observer.observe(milliseconds / 1000);

    const fields: Record<string, unknown> = {
      requestId: exchange.requestId,
      method: req.method,
      path: exchange.path.slice(0, LONGEST_PATH),
      status,
      ms: Math.round(milliseconds * 100) / 100,
    };
    if (principal !== undefined) {
      fields.companyId = principal.company_id;
      if (principal.key_id != null) fields.keyId = principal.key_id;
      else fields.userId = principal.user_id;
    }
    if (errorCode !== undefined) fields.code = errorCode;
    // A stack for each of our defects; a peer that is away needs one sentence for each of its requests.
    if (status === 503) log.warn({ ...fields, reason: String(exchange.cause) }, 'request could not be served');
    else if (status >= 500) log.error({ ...fields, error: exchange.cause }, 'request failed');
    else log.info(fields, 'request');
  };
}
