import { SpanKind, SpanStatusCode, context, propagation, trace, type Context, type Span } from '@opentelemetry/api';

/** Set once at start. While it is false no span is made and nothing is propagated, so that tracing off costs a branch. */
let enabled = false;

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/**
 * Sends spans to an OpenTelemetry collector (OTLP over HTTP) when an endpoint is given; the SDK is only loaded then.
 * Resolves to a function that sends what is left and stops.
 */
export async function startTracing(service: string, endpoint: string | undefined): Promise<() => Promise<void>> {
  if (endpoint === undefined) return async () => undefined;
  const { startSdk } = await import('./tracing-sdk.ts');
  const stop = startSdk(service, endpoint);
  enabled = true;
  return async () => {
    enabled = false;
    await stop();
  };
}

/** Runs work inside a span that ends with it; a rejection marks the span as failed. */
export function withSpan<T>(name: string, kind: keyof typeof SpanKind, attributes: SpanAttributes, work: () => Promise<T>): Promise<T> {
  return enabled ? inSpan(context.active(), name, SpanKind[kind], attributes, work) : work();
}

/** The same, as a child of the span that a peer named in these headers (W3C trace context). */
export function withRemoteSpan<T>(
  header: (name: string) => string | undefined,
  name: string,
  kind: keyof typeof SpanKind,
  attributes: SpanAttributes,
  work: () => Promise<T>,
): Promise<T> {
  if (!enabled) return work();
  const parent = propagation.extract(context.active(), header, { get: (from, key) => from(key), keys: () => [] });
  return inSpan(parent, name, SpanKind[kind], attributes, work);
}

/** The headers that let a peer continue the active trace: none while tracing is off. */
export function traceHeaders(): Record<string, string> {
  const headers: Record<string, string> = {};
  if (enabled) propagation.inject(context.active(), headers);
  return headers;
}

async function inSpan<T>(parent: Context, name: string, kind: SpanKind, attributes: SpanAttributes, work: () => Promise<T>): Promise<T> {
  const span: Span = trace.getTracer('truckroll').startSpan(name, { kind, attributes }, parent);
  try {
    return await context.with(trace.setSpan(parent, span), work);
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}
