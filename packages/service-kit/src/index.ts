export { ConfigError, env, readConfig, type Config, type Setting, type Settings } from './config.ts';
export type { KeyRing } from './key-ring.ts';
export { createLog, logTo, silentLog, type Logger, type LogLevel } from './log.ts';
export { createMetrics, type CounterMetric, type GaugeMetric, type HistogramMetric, type Metrics } from './metrics.ts';
export { startTelemetryServer, type ReadinessCheck, type TelemetryServer } from './telemetry-server.ts';
export { startTracing, traceHeaders, withRemoteSpan, withSpan } from './tracing.ts';
export type { BinaryRow, ConnectionOptions, Statement, StatementResult } from './connection.ts';
export { Places, type PlacesOptions } from './places.ts';
export { Database, type CompanyDatabase, type DatabaseOptions, type Queryable, type Transaction, type TransactionOptions } from './database.ts';
export { DatabaseClientError, StatementError, isContention, isLockTimeout, isUnavailable, isUniqueViolation } from './database-errors.ts';
export { expression, together, type Expressions } from './together.ts';
export { createSession, type Session } from './session.ts';
export { MigrationError, migrate, migrationsIn, missingMigrations, type Migration, type MigrationSet, type Schema } from './migrate.ts';
export { Repeated } from './repeated.ts';
export { DEFAULT_BACKOFF, backoffMs, logOutage, pause, retrying, type Backoff } from './retry.ts';
export { CallCancelled, type CallContext } from './call-context.ts';
export {
  acceptanceOf, callCredentialForm, newCallCredential, parseCallCredential, parseCallerCredentials, type CallCredential, type CallerCredentials,
} from './caller-credentials.ts';
export type { CallerCheck, CallerCheckMode } from './caller-check.ts';
export { createGrpcServer, type GrpcServer } from './grpc-server.ts';
export type { CallOptions, CallerOf, Callers, Definition, HandlerOf, Handlers, ResponseMetadata } from './grpc-handlers.ts';
export { REQUEST_ID, clientOptions, targetOf } from './grpc-options.ts';
export { tlsSettings, type TlsConfig } from './grpc-tls.ts';
export { openChannel, type Channel, type ChannelSettings } from './grpc-client.ts';
export { baseSettings, callerSettings, testCaller, testCallers, testConfig, type BaseConfig, type ServerConfig } from './service-config.ts';
export { createService, type BackgroundPart, type Service, type ServiceKit, type ServiceOptions } from './service.ts';
export { runService } from './run.ts';
export { told } from './told.ts';
