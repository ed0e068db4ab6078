import { callers, type Caller } from '@truckroll/contract';
import { acceptanceOf, newCallCredential, parseCallerCredentials, type CallCredential } from './caller-credentials.ts';
import type { CallerCheck, CallerCheckMode } from './caller-check.ts';
import { env, type Config } from './config.ts';
import type { DatabaseOptions } from './database.ts';
import { tlsSettings } from './grpc-tls.ts';
import { LOG_LEVELS } from './log.ts';

/** The settings that every service has. Spread them: `readConfig({ ...baseSettings(50051), … }, process.env)`. */
export function baseSettings(defaultPort: number) {
  return {
    host: env.string('HOST', '0.0.0.0'),
    port: env.port('PORT', defaultPort),
    metricsPort: env.port('METRICS_PORT', defaultPort + 1000),
    logLevel: env.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    otlpEndpoint: env.optionalUrl('OTEL_EXPORTER_OTLP_ENDPOINT'),
    otlpTracesEndpoint: env.optionalUrl('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'),
    /** After readiness has turned false, how long requests are still taken: load balancers and clients need a moment to go elsewhere. */
    drainDelayMs: env.duration('DRAIN_DELAY', 0),
    /** How long running calls may take to finish after that. */
    drainMs: env.duration('DRAIN_TIMEOUT', 20_000),
    /** gRPC: clients connect again this often, and so find replicas that came later. */
    maxConnectionAgeMs: env.duration('GRPC_MAX_CONNECTION_AGE', 300_000),
    /** Whether a service that owns a schema migrates it; otherwise it waits until somebody has (`truckroll migrate`). */
    migrateAtStart: env.boolean('MIGRATE_AT_START', true),
    ...tlsSettings,
    /** By which this component proves to the ones that it calls who it is. */
    callCredential: env.optionalCallCredential('CALL_CREDENTIAL'),
  };
}

/** The settings of a service that others call. Spread them as well. */
export const callerSettings = {
  /** Whose calls are served, beside what the contract says of each rpc. */
  callerCredentials: env.callerCredentials('CALLER_CREDENTIALS'),
  /** `report` serves what it should refuse, and tells: for the time in which older callers are replaced. */
  callerCheck: env.oneOf<CallerCheckMode>('CALLER_CHECK', ['enforce', 'report'], 'enforce'),
};

/** The settings of a service that has a schema. Spread them as well. */
export const databaseSettings = {
  databaseUrl: env.databaseUrl('DATABASE_URL'),
  /** Serves sessions when DATABASE_URL leads to a pooler that does not keep them. */
  databaseSessionUrl: env.databaseUrl('DATABASE_SESSION_URL', undefined),
};

/** How a service with these settings reaches PostgreSQL. */
export function databaseUrls({ databaseUrl, databaseSessionUrl }: Config<typeof databaseSettings>): Pick<DatabaseOptions, 'url' | 'sessionUrl'> {
  return { url: databaseUrl, sessionUrl: databaseSessionUrl };
}

export type ServerConfig = Config<typeof callerSettings>;

/** What is in front of a service's rpcs. A component without callers serves nothing but the health service. */
export function callerCheckOf(config: Partial<ServerConfig>): CallerCheck {
  return { accepted: config.callerCredentials ?? new Map(), mode: config.callerCheck };
}

/** What comes after the calls: background parts that end their work, pools, the last log lines. Milliseconds. */
const AFTER_DRAIN_MS = 15_000;

/** How long a stop takes at most. The chart's grace period and compose's are longer. Milliseconds. */
export function stopLimitMs({ drainDelayMs, drainMs }: Pick<BaseConfig, 'drainDelayMs' | 'drainMs'>): number {
  return drainDelayMs + drainMs + AFTER_DRAIN_MS;
}

export type BaseConfig = Config<ReturnType<typeof baseSettings>>;

/** For tests: a credential of every component, made for this process. */
export const testCallers: readonly CallCredential[] = callers.map(newCallCredential);

export function testCaller(name: Caller): CallCredential {
  return testCallers.find(({ caller }) => caller === name)!;
}

/** For tests: any free ports, a log of what goes wrong, calls of the components above. */
export const testConfig: BaseConfig & ServerConfig & { readonly databaseSessionUrl: undefined } = Object.freeze({
  databaseSessionUrl: undefined,
  host: '127.0.0.1',
  port: 0,
  metricsPort: 0,
  logLevel: 'warn',
  otlpEndpoint: undefined,
  otlpTracesEndpoint: undefined,
  drainDelayMs: 0,
  drainMs: 1000,
  maxConnectionAgeMs: 300_000,
  migrateAtStart: true,
  tlsCertFile: undefined,
  tlsKeyFile: undefined,
  tlsCaFile: undefined,
  tlsClientCertificates: false,
  callCredential: undefined,
  callerCredentials: parseCallerCredentials(testCallers.map(acceptanceOf).join())!,
  callerCheck: 'enforce',
});
