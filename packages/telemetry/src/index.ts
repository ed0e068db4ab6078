export { readBuild } from './build.ts';
export { databaseDurations, durations, kafkaDurations, type Durations } from './durations.ts';
export { LOG_LEVELS, createLog, logTo, silentLog, type Logger } from './log.ts';
export { createMetrics, type CounterMetric, type MetricDescription, type Metrics } from './metrics.ts';
export { currentRequest, onBehalfOf, readRequestId, readTraceparent, requestOf, traceIdOf, type RequestContext } from './request-context.ts';
export * from './semconv.ts';
export { activeTraceparent, describeSpan, failSpan, isSampled, startTracing, withBatchSpan, withRemoteSpan, withSpan } from './tracing.ts';
