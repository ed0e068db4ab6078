import { callers, type Caller } from '@truckroll/contract';
import { acceptanceOf, newCallCredential, parseCallerCredentials, type CallCredential } from './caller-credentials.ts';
import type { CallerCheck, CallerCheckMode } from './caller-check.ts';
import { env, type Config } from './config.ts';
import type { DatabaseOptions } from './database.ts';
import { tlsSettings } from './grpc-tls.ts';
import { LOG_LEVELS } from './log.ts';

/** Settings of every service. Spread them: `readConfig({ ...baseSettings(50051), … }, process.env)`. */
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
    /** gRPC: age at which clients must reconnect, so that they find newer replicas. */
    maxConnectionAgeMs: env.duration('GRPC_MAX_CONNECTION_AGE', 300_000),
    /** Whether a service migrates its schema at start; otherwise it waits until `truckroll migrate` has done so. */
    migrateAtStart: env.boolean('MIGRATE_AT_START', true),
    ...tlsSettings,
    /** Credential with which this component identifies itself to those it calls. */
    callCredential: env.optionalCallCredential('CALL_CREDENTIAL'),
  };
}

/** Settings of a service that others call. Spread them as well. */
export const callerSettings = {
  /** Credentials of accepted callers. The contract says which rpcs each may call. */
  callerCredentials: env.callerCredentials('CALLER_CREDENTIALS'),
  /** `report` logs calls that should be refused, but serves them: for the time in which older callers are replaced. */
  callerCheck: env.oneOf<CallerCheckMode>('CALLER_CHECK', ['enforce', 'report'], 'enforce'),
};

/** Settings of a service that has a schema. Spread them as well. */
export const databaseSettings = {
  databaseUrl: env.databaseUrl('DATABASE_URL'),
  /** URL for sessions, if DATABASE_URL leads to a pooler that does not keep them. */
  databaseSessionUrl: env.databaseUrl('DATABASE_SESSION_URL', undefined),
};

export function databaseUrls({ databaseUrl, databaseSessionUrl }: Config<typeof databaseSettings>): Pick<DatabaseOptions, 'url' | 'sessionUrl'> {
  return { url: databaseUrl, sessionUrl: databaseSessionUrl };
}

export type ServerConfig = Config<typeof callerSettings>;

/** The check of callers for a service. Without accepted callers, only the health service is served. */
export function callerCheckOf(config: Partial<ServerConfig>): CallerCheck {
  return { accepted: config.callerCredentials ?? new Map(), mode: config.callerCheck };
}

/** Time for the rest of a stop after draining: background parts, pools, the last log lines. Milliseconds. */
const AFTER_DRAIN_MS = 15_000;

/** Maximum duration of a stop, in milliseconds. The grace periods of the chart and of compose are longer. */
export function stopLimitMs({ drainDelayMs, drainMs }: Pick<BaseConfig, 'drainDelayMs' | 'drainMs'>): number {
  return drainDelayMs + drainMs + AFTER_DRAIN_MS;
}

export type BaseConfig = Config<ReturnType<typeof baseSettings>>;

/** For tests: a credential of every component, made for this process. */
export const testCallers: readonly CallCredential[] = callers.map(newCallCredential);

export function testCaller(name: Caller): CallCredential {
  return testCallers.find(({ caller }) => caller === name)!;
}

/** For tests: any free ports, warnings in the log, calls by the components above. */
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
