import { callers, type Caller } from '@truckroll/contract';
import { acceptanceOf, newCallCredential, parseCallerCredentials, type CallCredential, type CallerConfig, type GrpcConfig } from '@truckroll/grpc';
import type { BaseConfig } from '@truckroll/process';

/** A credential of every component, made for this process. */
export const testCallers: readonly CallCredential[] = callers.map(newCallCredential);

export function testCaller(name: Caller): CallCredential {
  return testCallers.find(({ caller }) => caller === name)!;
}

type TestConfig = BaseConfig & GrpcConfig & CallerConfig & { readonly databaseSessionUrl: undefined; readonly migrateAtStart: boolean };

/** Any free ports, warnings in the log, calls by the components above. */
export const testConfig: TestConfig = Object.freeze({
  databaseSessionUrl: undefined,
  migrateAtStart: true,
  host: '127.0.0.1',
  port: 0,
  metricsPort: 0,
  logLevel: 'warn',
  otlpEndpoint: undefined,
  otlpTracesEndpoint: undefined,
  drainDelayMs: 0,
  drainMs: 1000,
  maxConnectionAgeMs: 300_000,
  tlsCertFile: undefined,
  tlsKeyFile: undefined,
  tlsCaFile: undefined,
  tlsClientCertificates: false,
  callCredential: undefined,
  callerCredentials: parseCallerCredentials(testCallers.map(acceptanceOf).join())!,
});

/** No broker listens there: events stay in the outbox. */
export const withoutKafka = Object.freeze({
  kafkaBrokers: ['127.0.0.1:1'],
  kafkaTls: false,
  kafkaCertificate: undefined,
  kafkaKey: undefined,
  kafkaMechanism: 'none',
  kafkaUsername: '',
  kafkaPassword: '',
  kafkaPrefix: '',
} as const);
