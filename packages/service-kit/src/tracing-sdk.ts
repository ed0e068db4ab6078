// Imported only when an OTLP endpoint is set: the SDK costs start-up time and memory.
import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, RandomIdGenerator, TracerProvider } from '@opentelemetry/sdk-trace';
import { currentRequest, traceIdOf } from './request-context.ts';

/** A request's first span has the trace that its log lines name. */
class IdsOfRequests extends RandomIdGenerator {
  constructor() {
    super();
    const random = this.generateTraceId;
    this.generateTraceId = () => {
      const request = currentRequest();
      return request === undefined ? random() : traceIdOf(request);
    };
  }
}

/** Starts sending spans to `<endpoint>/v1/traces`; returns a function that flushes and stops. */
export function startSdk(service: string, endpoint: string): () => Promise<void> {
  const exporter = new OTLPTraceExporter({ url: new URL('v1/traces', endpoint.replace(/\/*$/, '/')).href });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service, 'service.namespace': 'truckroll' }),
    idGenerator: new IdsOfRequests(),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  return async () => {
    // A collector that is away must not fail a shutdown.
    await provider.shutdown().catch(() => undefined);
    trace.disable();
    propagation.disable();
    context.disable();
  };
}
