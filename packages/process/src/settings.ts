import { LOG_LEVELS } from '@truckroll/telemetry';
import { env, type Config } from './config.ts';

/** Settings of every process. Spread them: `readConfig({ ...baseSettings(50051), … }, process.env)`. */
export function baseSettings(defaultPort: number) {
  return {
    /** Address on which HTTP or gRPC and telemetry listen: `0.0.0.0` means all IPv4 addresses, `::` all IPv6 and IPv4 addresses. */
    host: env.listenAddress('HOST', '0.0.0.0'),
    /** Port of HTTP (gateway) or gRPC (services). */
    port: env.port('PORT', defaultPort),
    /** Port of `/metrics`, `/healthz` and `/readyz`. */
    metricsPort: env.port('METRICS_PORT', defaultPort + 1000),
    /** Least severe log lines to write. */
    logLevel: env.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    /** Spans go to `v1/traces` below this address, by OTLP over HTTP with JSON. Without an endpoint no spans are exported. */
    otlpEndpoint: env.optionalUrl('OTEL_EXPORTER_OTLP_ENDPOINT', ['http', 'https']),
    /** Spans go to exactly this address, whatever the other endpoint says. */
    otlpTracesEndpoint: env.optionalUrl('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', ['http', 'https']),
    /** After SIGTERM: how long the unready process still serves requests, so that load balancers and clients can move elsewhere. */
    drainDelayMs: env.duration('DRAIN_DELAY', 0),
    /** After DRAIN_DELAY: how long requests in progress may take. */
    drainMs: env.duration('DRAIN_TIMEOUT', 20_000),
  };
}

export type BaseConfig = Config<ReturnType<typeof baseSettings>>;

const AFTER_DRAIN_MS = 15_000;

/** Maximum duration of a stop, in milliseconds. The grace periods of the chart and of compose are longer. */
export function stopLimitMs({ drainDelayMs, drainMs }: Pick<BaseConfig, 'drainDelayMs' | 'drainMs'>): number {
  return drainDelayMs + drainMs + AFTER_DRAIN_MS;
}
