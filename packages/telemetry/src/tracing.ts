import {
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  context,
  propagation,
  trace,
  type Context,
  type Link,
  type Span,
  type SpanContext,
  type Tracer,
} from '@opentelemetry/api';
import { isFault } from './faults.ts';
import type { Logger } from './log.ts';
import { currentRequest } from './request-context.ts';

/** Set at start. While undefined no spans are created, so disabled tracing costs one branch; ids are still passed on. */
let tracer: Tracer | undefined;

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface Collector {
  /** Base URL; spans are sent to `v1/traces` below it. */
  readonly otlpEndpoint?: string | undefined;
  /** URL for spans; overrides `otlpEndpoint`. */
  readonly otlpTracesEndpoint?: string | undefined;
}

/** Sends spans by OTLP over HTTP if an endpoint is given; only then loads the SDK. Resolves to a function that flushes and stops. */
export async function startTracing(service: string, { otlpEndpoint, otlpTracesEndpoint }: Collector, log: Logger): Promise<() => Promise<void>> {
  const url = otlpTracesEndpoint ?? (otlpEndpoint && new URL('v1/traces', otlpEndpoint.replace(/\/*$/, '/')).href);
  if (url === undefined) return async () => undefined;
  const { startSdk } = await import('./tracing-sdk.ts');
  const stop = startSdk(service, url, log);
  tracer = trace.getTracer('truckroll');
  return async () => {
    tracer = undefined;
    await stop();
  };
}

/** Whether the active span is sampled: then the collector should get everything within it. */
export function isSampled(): boolean {
  return recordingSpan() !== undefined;
}

/**
 * Runs work inside a span that ends with it. Its parent is the active span, or without one the span in the request's traceparent. A rejection marks
 * the span as failed if it is a fault (`isFault`).
 */
export function withSpan<T>(name: string, kind: keyof typeof SpanKind, attributes: SpanAttributes, work: () => Promise<T>): Promise<T> {
  if (tracer === undefined) return work();
  const parent = trace.getActiveSpan() === undefined ? parentIn(currentRequest()?.traceparent) : context.active();
  return inSpan(parent, name, SpanKind[kind], attributes, [], work);
}

/** Like withSpan, as a child of the span that a peer named in these headers (W3C trace context). */
export function withRemoteSpan<T>(
  header: (name: string) => string | undefined,
  name: string,
  kind: keyof typeof SpanKind,
  attributes: SpanAttributes,
  work: () => Promise<T>,
): Promise<T> {
  return tracer !== undefined ? inSpan(remote(header), name, SpanKind[kind], attributes, [], work) : work();
}

/** Like withSpan, for work on several messages: a child of the only message's span, or linked to the spans of those that are sampled. */
export function withBatchSpan<T>(
  traceparents: readonly (string | null | undefined)[],
  name: string,
  kind: keyof typeof SpanKind,
  attributes: SpanAttributes,
  work: () => Promise<T>,
): Promise<T> {
  if (tracer === undefined) return work();
  const parents = [...new Set(traceparents)].map(parentIn);
  const [only] = parents;
  if (traceparents.length === 1 && only !== undefined) return inSpan(only, name, SpanKind[kind], attributes, [], work);
  const links = parents.flatMap((parent): Link[] => {
    const of = trace.getSpanContext(parent);
    return of !== undefined && isTaken(of) ? [{ context: of }] : [];
  });
  return inSpan(context.active(), name, SpanKind[kind], attributes, links, work);
}

/** Adds attributes to the active span, and renames it, once they are known. */
export function describeSpan(attributes: SpanAttributes, name?: string): void {
  const span = recordingSpan();
  span?.setAttributes(attributes);
  if (name !== undefined) span?.updateName(name);
}

/** Marks the active span as failed, for faults that are not thrown. */
export function failSpan(): void {
  recordingSpan()?.setStatus({ code: SpanStatusCode.ERROR });
}

/** The active span. Undefined if it is not sampled, or has ended, as when the client has closed the connection. */
function recordingSpan(): Span | undefined {
  const span = tracer && trace.getActiveSpan();
  return span?.isRecording() === true ? span : undefined;
}

/** The trace for a peer or an event to continue; undefined if its id can be derived from the request id. */
export function activeTraceparent(): string | undefined {
  if (tracer === undefined) return currentRequest()?.traceparent;
  const headers: Record<string, string> = {};
  propagation.inject(context.active(), headers);
  return headers['traceparent'] ?? currentRequest()?.traceparent;
}

function parentIn(traceparent: string | null | undefined): Context {
  return remote((header) => (header === 'traceparent' ? (traceparent ?? undefined) : undefined));
}

function remote(header: (name: string) => string | undefined): Context {
  return propagation.extract(context.active(), header, { get: (from, key) => from(key), keys: () => [] });
}

function inSpan<T>(parent: Context, name: string, kind: SpanKind, attributes: SpanAttributes, links: Link[], work: () => Promise<T>): Promise<T> {
  // No sampler that can be set takes a part of a span that it did not take; only a peer may have had another one.
  const around = trace.getSpanContext(parent);
  if (around !== undefined && around.isRemote !== true && !isTaken(around)) return work();
  const span = tracer!.startSpan(name, { kind, attributes, links }, parent);
  const within = () => context.with(trace.setSpan(parent, span), work);
  return span.isRecording() ? recorded(span, within) : within();
}

const isTaken = ({ traceFlags }: SpanContext): boolean => (traceFlags & TraceFlags.SAMPLED) !== 0;

async function recorded<T>(span: Span, work: () => Promise<T>): Promise<T> {
  const request = currentRequest();
  if (request !== undefined) span.setAttribute('truckroll.request_id', request.requestId);
  try {
    return await work();
  } catch (error) {
    if (isFault(error)) span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}
