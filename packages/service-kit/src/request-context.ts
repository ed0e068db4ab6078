import { AsyncLocalStorage } from 'node:async_hooks';
import { isUuid } from '@truckroll/contract';

/** The request of a client or an operator on whose behalf something is done. It travels in every call and event that it causes. */
export interface RequestContext {
  /** UUID; clients know it as X-Request-Id. */
  readonly requestId: string;
  /** W3C trace context. Absent where nobody made one: then the trace is that of `traceIdOf`. */
  readonly traceparent: string | undefined;
  /** Name of the operator who made the call; undefined for other callers, and for a credential that is not proven. */
  readonly operator?: string | undefined;
}

const requests = new AsyncLocalStorage<RequestContext | undefined>();

/** Runs work, and all that it awaits or begins, on behalf of a request; of none where that is undefined. */
export function onBehalfOf<T>(request: RequestContext | undefined, work: () => T): T {
  return requests.run(request, work);
}

export function currentRequest(): RequestContext | undefined {
  return requests.getStore();
}

/**
 * 32 hexadecimal digits. A request that came without a trace has one of its own all the same: its id without hyphens. So the
 * two are found by each other, and nothing more has to travel where nobody exports spans.
 */
export function traceIdOf({ requestId, traceparent }: RequestContext): string {
  return traceparent?.slice(3, 35) ?? requestId.replaceAll('-', '');
}

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** What a peer or an event names as its trace, where it is one (W3C Trace Context, level 1). */
export function readTraceparent(value: string | undefined): string | undefined {
  return value !== undefined && TRACEPARENT.test(value) ? value : undefined;
}

/** What a peer or an event names as its request, where it is an id. */
export function readRequestId(value: string | null | undefined): string | undefined {
  return value != null && isUuid(value) && value === value.toLowerCase() ? value : undefined;
}

/** Of what was stored with an event: undefined where it is of no request, or of a release that did not tell. */
export function requestOf(requestId: string | null | undefined, traceparent: string | null | undefined): RequestContext | undefined {
  const id = readRequestId(requestId);
  return id === undefined ? undefined : { requestId: id, traceparent: readTraceparent(traceparent ?? undefined) };
}
