import { SpanKind, SpanStatusCode, context, propagation, trace, type Context, type Link, type Span } from '@opentelemetry/api';
import { isFault } from './faults.ts';
import type { Logger } from './log.ts';
import { currentRequest } from './request-context.ts';

/** Set once at start. While it is false no span is made, so that tracing off costs a branch; ids are carried all the same. */
let enabled = false;

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface Collector {
  /** The path `v1/traces` below it takes spans. */
  readonly otlpEndpoint?: string | undefined;
  /** Takes spans itself, rather than the one above. */
  readonly otlpTracesEndpoint?: string | undefined;
}

/**
 * Sends spans to an OpenTelemetry collector (OTLP over HTTP) when an endpoint is given; the SDK is only loaded then.
 * Resolves to a function that sends what is left and stops.
 */
export async function startTracing(service: string, { otlpEndpoint, otlpTracesEndpoint }: Collector, log: Logger): Promise<() => Promise<void>> {
  const url = otlpTracesEndpoint ?? (otlpEndpoint && new URL('v1/traces', otlpEndpoint.replace(/\/*$/, '/')).href);
  if (url === undefined) return async () => undefined;
  const { startSdk } = await import('./tracing-sdk.ts');
  const stop = startSdk(service, url, log);
  enabled = true;
  return async () => {
    enabled = false;
    await stop();
  };
}

/** Whether spans are made. */
export function isTracing(): boolean {
  return enabled;
}

/** Runs work inside a span that ends with it; a rejection marks the span as failed where it is a fault (`isFault`). */
export function withSpan<T>(name: string, kind: keyof typeof SpanKind, attributes: SpanAttributes, work: () => Promise<T>): Promise<T> {
  return enabled ? inSpan(context.active(), name, SpanKind[kind], attributes, [], work) : work();
}

/** The same, as a child of the span that a peer named in these headers (W3C trace context). */
export function withRemoteSpan<T>(
  header: (name: string) => string | undefined,
  name: string,
  kind: keyof typeof SpanKind,
  attributes: SpanAttributes,
  work: () => Promise<T>,
): Promise<T> {
  return enabled ? inSpan(remote(header), name, SpanKind[kind], attributes, [], work) : work();
}

/** The same for work on several messages at once: a child of the only one, or linked to the spans of all. */
export function withBatchSpan<T>(
  traceparents: readonly (string | null | undefined)[],
  name: string,
  kind: keyof typeof SpanKind,
  attributes: SpanAttributes,
  work: () => Promise<T>,
): Promise<T> {
  if (!enabled) return work();
  const parents = [...new Set(traceparents)].map((value) => remote((header) => (header === 'traceparent' ? (value ?? undefined) : undefined)));
  const [only] = parents;
  if (traceparents.length === 1 && only !== undefined) return inSpan(only, name, SpanKind[kind], attributes, [], work);
  const links = parents.flatMap((parent): Link[] => {
    const of = trace.getSpanContext(parent);
    return of === undefined ? [] : [{ context: of }];
  });
  return inSpan(context.active(), name, SpanKind[kind], attributes, links, work);
}

/** Tells more of the active span: what was only found out inside it. */
export function describeSpan(attributes: SpanAttributes, name?: string): void {
  if (!enabled) return;
  const span = trace.getActiveSpan();
  span?.setAttributes(attributes);
  if (name !== undefined) span?.updateName(name);
}

/** Marks the active span as failed, for faults that do not leave it as errors. */
export function failSpan(): void {
  if (enabled) trace.getActiveSpan()?.setStatus({ code: SpanStatusCode.ERROR });
}

/** The trace that a peer or an event is to continue; undefined where it is the one that follows from the request's id. */
export function activeTraceparent(): string | undefined {
  if (!enabled) return currentRequest()?.traceparent;
  const headers: Record<string, string> = {};
  propagation.inject(context.active(), headers);
  return headers['traceparent'] ?? currentRequest()?.traceparent;
}

function remote(header: (name: string) => string | undefined): Context {
  return propagation.extract(context.active(), header, { get: (from, key) => from(key), keys: () => [] });
}

async function inSpan<T>(parent: Context, name: string, kind: SpanKind, attributes: SpanAttributes, links: Link[], work: () => Promise<T>): Promise<T> {
  const span: Span = trace.getTracer('truckroll').startSpan(name, { kind, attributes, links }, parent);
  const request = currentRequest();
  if (request !== undefined) span.setAttribute('truckroll.request_id', request.requestId);
  try {
    return await context.with(trace.setSpan(parent, span), work);
  } catch (error) {
    if (isFault(error)) span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}
