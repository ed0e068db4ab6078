// Imported only if an OTLP endpoint is set, because the SDK costs start-up time and memory. Standard OTEL_ variables are read here and by the SDK.
import { randomUUID } from 'node:crypto';
import { DiagLogLevel, context, diag, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator, getStringFromEnv } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
  type Resource,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
} from '@opentelemetry/sdk-trace';
import { ATTR_SERVICE_INSTANCE_ID, ATTR_SERVICE_NAME, ATTR_SERVICE_NAMESPACE, ATTR_SERVICE_VERSION } from '@opentelemetry/semantic-conventions';
import { readBuild } from './build.ts';
import type { Logger } from './log.ts';
import { currentRequest, onBehalfOf, traceIdOf } from './request-context.ts';

/** Starts a request's trace with the id that its log lines contain. */
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

/** By the values of OTEL_TRACES_SAMPLER. */
const ROOTS: Readonly<Record<string, (ratio: number) => Sampler>> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (ratio) => new TraceIdRatioBasedSampler(ratio),
};
const DEFAULT_SAMPLER = 'parentbased_traceidratio';
/** Share of the traces that begin here: a trace of every request would cost three fifths of the details (docs/explanation/performance.md). */
const DEFAULT_RATIO = 0.01;

/** Starts sending spans to `url`; returns a function that flushes and stops. */
export function startSdk(service: string, url: string, log: Logger): () => Promise<void> {
  report(log);
  const provider = new TracerProvider({
    resource: resourceOf(service),
    sampler: samplerOf(getStringFromEnv('OTEL_TRACES_SAMPLER')),
    idGenerator: new IdsOfRequests(),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url }) })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  return async () => {
    // An unreachable collector must not fail a shutdown.
    await provider.shutdown().catch(() => undefined);
    trace.disable();
    propagation.disable();
    context.disable();
    diag.disable();
  };
}

function resourceOf(service: string): Resource {
  const own = resourceFromAttributes({
    [ATTR_SERVICE_NAME]: service,
    [ATTR_SERVICE_NAMESPACE]: 'truckroll',
    [ATTR_SERVICE_VERSION]: readBuild(process.env).version,
    [ATTR_SERVICE_INSTANCE_ID]: randomUUID(),
  });
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }));
}

/** As OpenTelemetry specifies, an unknown value is reported and treated as unset, and a ratio that is not given is 1, except for the default. */
function samplerOf(name: string | undefined): Sampler {
  const [, parentBased, root = ''] = /^(parentbased_)?(.*)$/.exec(name ?? DEFAULT_SAMPLER) ?? [];
  if (!Object.hasOwn(ROOTS, root)) {
    diag.warn(`OTEL_TRACES_SAMPLER is ${JSON.stringify(name)}, which is none of ${Object.keys(ROOTS).join(', ')}, alone or after parentbased_`);
    return samplerOf(undefined);
  }
  const sampler = ROOTS[root]!(root === 'traceidratio' ? ratioOr(name === undefined ? DEFAULT_RATIO : 1) : 1);
  return parentBased === undefined ? sampler : new ParentBasedSampler({ root: sampler });
}

/** A ratio that is none is not 1, unlike one that is not given: a mistake must not trace every request. */
function ratioOr(unset: number): number {
  const given = getStringFromEnv('OTEL_TRACES_SAMPLER_ARG');
  if (given === undefined) return unset;
  const ratio = Number(given);
  if (ratio >= 0 && ratio <= 1) return ratio;
  diag.warn(`OTEL_TRACES_SAMPLER_ARG is ${given}, which is no number from 0 to 1: ${DEFAULT_RATIO} is used`);
  return DEFAULT_RATIO;
}

/** Sends OpenTelemetry's diagnostics to the log, with the ids of no request. Repeated messages are logged once, since each failed export batch causes one. */
function report(log: Logger): void {
  let last = '';
  const warn = (message: string): void => {
    if (message !== last) onBehalfOf(undefined, () => log.warn({ detail: message }, 'OpenTelemetry reports a problem'));
    last = message;
  };
  const quiet = (): void => undefined;
  diag.setLogger({ error: warn, warn, info: quiet, debug: quiet, verbose: quiet }, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}
