import { LOG_LEVELS } from '@truckroll/telemetry';
import { env, type Config } from './config.ts';

/** Settings of every process. Spread them: `readConfig({ ...baseSettings(50051), … }, process.env)`. */
export function baseSettings(defaultPort: number) {
  return {
    host: env.string('HOST', '0.0.0.0'),
    port: env.port('PORT', defaultPort),
    metricsPort: env.port('METRICS_PORT', defaultPort + 1000),
    logLevel: env.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    otlpEndpoint: env.optionalUrl('OTEL_EXPORTER_OTLP_ENDPOINT'),
    otlpTracesEndpoint: env.optionalUrl('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'),
    /** Time to keep taking requests after readiness has turned false, so that load balancers and clients can move elsewhere. */
    drainDelayMs: env.duration('DRAIN_DELAY', 0),
    /** Time for running calls to finish after that. */
    drainMs: env.duration('DRAIN_TIMEOUT', 20_000),
  };
}

export type BaseConfig = Config<ReturnType<typeof baseSettings>>;

/** Time for the rest of a stop after draining: background parts, pools, the last log lines. Milliseconds. */
const AFTER_DRAIN_MS = 15_000;

/** Maximum duration of a stop, in milliseconds. The grace periods of the chart and of compose are longer. */
export function stopLimitMs({ drainDelayMs, drainMs }: Pick<BaseConfig, 'drainDelayMs' | 'drainMs'>): number {
  return drainDelayMs + drainMs + AFTER_DRAIN_MS;
}
