import { AsyncLocalStorage } from 'node:async_hooks';
import { ROOT_CONTEXT, context } from '@opentelemetry/api';
import { isUuid } from '@truckroll/contract';

/** The client's or operator's request on whose behalf work is done. It is passed on with every call and event that it causes. */
export interface RequestContext {
  /** UUID; clients know it as X-Request-Id. */
  readonly requestId: string;
  /** W3C trace context. Undefined if no trace was started; the trace id is then that of `traceIdOf`. */
  readonly traceparent: string | undefined;
  /** Name of the operator who made the call; undefined for other callers, and if the credential is not proven. */
  readonly operator?: string | undefined;
}

const requests = new AsyncLocalStorage<RequestContext | undefined>();

/**
 * Runs work, and everything it awaits or starts, on behalf of a request, or of none if it is undefined, and outside the span around it: what starts
 * the work may be another request.
 */
export function onBehalfOf<T>(request: RequestContext | undefined, work: () => T): T {
  return requests.run(request, () => context.with(ROOT_CONTEXT, work));
}

/** The request of the surrounding `onBehalfOf`; undefined where there is none, as in background work. */
export function currentRequest(): RequestContext | undefined {
  return requests.getStore();
}

/** 32 hexadecimal digits. Without a trace it is the request id without hyphens, so each leads to the other and nothing more has to be passed on. */
export function traceIdOf({ requestId, traceparent }: RequestContext): string {
  return traceparent?.slice(3, 35) ?? requestId.replaceAll('-', '');
}

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** A peer's or an event's traceparent, or undefined if it is malformed (W3C Trace Context, level 1). */
export function readTraceparent(value: string | undefined): string | undefined {
  return value !== undefined && TRACEPARENT.test(value) ? value : undefined;
}

/** A peer's or an event's request id, or undefined if it is malformed. */
export function readRequestId(value: string | null | undefined): string | undefined {
  return value != null && isUuid(value) && value === value.toLowerCase() ? value : undefined;
}

/** The request stored with an event; undefined if there was none, or if an older release did not store it. */
export function requestOf(requestId: string | null | undefined, traceparent: string | null | undefined): RequestContext | undefined {
  const id = readRequestId(requestId);
  return id === undefined ? undefined : { requestId: id, traceparent: readTraceparent(traceparent ?? undefined) };
}
