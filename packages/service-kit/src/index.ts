export { readBuild } from './build.ts';
export { ConfigError, env, readConfig, type Config, type Setting, type Settings } from './config.ts';
export { KeyRing } from './key-ring.ts';
export { seal, sealedBy, unseal } from './sealing.ts';
export { createLog, logTo, silentLog, type Logger } from './log.ts';
export { databaseDurations, durations, kafkaDurations, type Durations } from './durations.ts';
export { createMetrics, type CounterMetric, type MetricDescription, type Metrics } from './metrics.ts';
export {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_MESSAGING_BATCH_MESSAGE_COUNT,
  ATTR_MESSAGING_DESTINATION_NAME,
  ATTR_MESSAGING_SYSTEM,
  ATTR_URL_PATH,
  MESSAGING_SYSTEM_VALUE_KAFKA,
} from './semconv.ts';
export { activeTraceparent, describeSpan, failSpan, isTracing, startTracing, withBatchSpan, withRemoteSpan, withSpan } from './tracing.ts';
export { currentRequest, onBehalfOf, readRequestId, readTraceparent, requestOf, traceIdOf, type RequestContext } from './request-context.ts';
export { arrayOf, binaryArrays, type ArrayType } from './binary-arrays.ts';
export { instantOf, uuidOf, wholeNumberOf } from './binary-columns.ts';
export type { WireRow } from './binary-rows.ts';
export type { BinaryRow, Statement } from './connection.ts';
export { parseDatabaseUrl } from './database-url.ts';
export { FairQueue, SHED, type Flow } from './fair-queue.ts';
export { RecentCompanies } from './recent-companies.ts';
export { Database, type CompanyDatabase, type Queryable, type Transaction } from './database.ts';
export { DatabaseClientError, PoolerError, StatementError, isContention, isLockTimeout, isUnavailable, isUniqueViolation } from './database-errors.ts';
export { expression, together, type Expressions } from './together.ts';
export { createSession, type Session } from './session.ts';
export { isInSteps } from './migration-steps.ts';
export { MigrationError, asOwner, migrate, migrationsIn, missingMigrations, type MigrationSet, type Schema } from './migrate.ts';
export { gather } from './gather.ts';
export { heard } from './heard.ts';
export { Notifier } from './notifier.ts';
export { PeriodicTask } from './periodic-task.ts';
export { backoffMs, logOutage, pause, retrying } from './retry.ts';
export type { CallContext } from './call-context.ts';
export { apiKeyEnds, generateApiKey, hashApiKey, isApiKey } from './api-key.ts';
export {
  acceptanceOf,
  newCallCredential,
  newOperatorCredential,
  parseCallCredential,
  parseCallerCredentials,
  type CallCredential,
} from './caller-credentials.ts';
export type { CallerCheck } from './caller-check.ts';
export { checkServing } from './grpc-health.ts';
export { createGrpcServer, type GrpcServer, type RecordOperatorCall } from './grpc-server.ts';
export { giveBack } from './frame-decoder.ts';
export { FRAME_BYTES, messageBehindRoom } from './grpc-framing.ts';
export type { Callers, Definition, Handlers, ResponseMetadata } from './grpc-handlers.ts';
export { tlsSettings, type TlsConfig } from './grpc-tls.ts';
export { openChannel, type Channel } from './grpc-client.ts';
export { baseSettings, callerSettings, databaseSettings, databaseUrls, stopLimitMs, testCaller, testCallers, testConfig } from './service-config.ts';
export { createComponent, type BackgroundPart, type Service } from './component.ts';
export { createService, type ServiceKit } from './service.ts';
export { growHeapInLargerSteps } from './heap.ts';
export { runService } from './run.ts';
export { streamOf } from './stream-of.ts';
export { editDistance } from './edit-distance.ts';
