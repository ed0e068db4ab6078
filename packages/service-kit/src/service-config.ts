import { env, type Config } from './config.ts';
import { LOG_LEVELS } from './log.ts';

/** The settings that every service has. Spread them: `readConfig({ ...baseSettings(50051), … }, process.env)`. */
export function baseSettings(defaultPort: number) {
  return {
    host: env.string('HOST', '0.0.0.0'),
    port: env.port('PORT', defaultPort),
    metricsPort: env.port('METRICS_PORT', defaultPort + 1000),
    logLevel: env.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    otlpEndpoint: env.optionalUrl('OTEL_EXPORTER_OTLP_ENDPOINT'),
    /** How long running calls may take to finish after SIGTERM. */
    drainMs: env.duration('DRAIN_TIMEOUT', 20_000),
    /** gRPC: clients connect again this often, and so find replicas that came later. */
    maxConnectionAgeMs: env.duration('GRPC_MAX_CONNECTION_AGE', 300_000),
    /** Whether a service that owns a schema migrates it; otherwise it waits until somebody has (`truckroll migrate`). */
    migrateAtStart: env.boolean('MIGRATE_AT_START', true),
  };
}

export type BaseConfig = Config<ReturnType<typeof baseSettings>>;

/** For tests: any free ports, no log. */
export const testConfig: BaseConfig = Object.freeze({
  host: '127.0.0.1',
  port: 0,
  metricsPort: 0,
  logLevel: 'silent',
  otlpEndpoint: undefined,
  drainMs: 1000,
  maxConnectionAgeMs: 300_000,
  migrateAtStart: true,
});
