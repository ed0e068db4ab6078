import type { Caller } from '@truckroll/contract';
import { env, setting, type Config, type Setting } from '@truckroll/process';
import {
  CALLER_CREDENTIALS_FORM,
  callCredentialForm,
  parseCallCredential,
  parseCallerCredentials,
  type CallCredential,
  type CallerCredentials,
} from './caller-credentials.ts';
import type { CallerCheck } from './caller-check.ts';
import { tlsSettings } from './tls.ts';

/** Credential with which this component proves to others that it is `caller`. */
export function callCredentialSetting(name: string, caller: Caller): Setting<CallCredential> {
  const own = (text: string) => [parseCallCredential(text)].find((credential) => credential?.caller === caller);
  return setting<CallCredential>(name, callCredentialForm(caller), [], own, false);
}

export function optionalCallCredentialSetting(name: string): Setting<CallCredential | undefined> {
  return setting<CallCredential | undefined>(name, callCredentialForm(), [undefined], parseCallCredential, false);
}

/** Settings of every component that makes or serves calls. Spread them. */
export const grpcSettings = {
  /** Age at which clients must reconnect, which is when they find new replicas. */
  maxConnectionAgeMs: env.duration('GRPC_MAX_CONNECTION_AGE', 300_000),
  ...tlsSettings,
  /** Credential with which this component proves its name to those it calls: `<caller>.<secret>`. */
  callCredential: optionalCallCredentialSetting('CALL_CREDENTIAL'),
};

export type GrpcConfig = Config<typeof grpcSettings>;

/** Settings of a service that others call. Spread them as well. */
export const callerSettings = {
  /** Accepted callers, by SHA-256 of their credentials. The contract says which rpcs each may call. */
  callerCredentials: setting<CallerCredentials>('CALLER_CREDENTIALS', CALLER_CREDENTIALS_FORM, [], parseCallerCredentials, false),
};

export type CallerConfig = Config<typeof callerSettings>;

/** The check of callers for a service. Without accepted callers, only the health service is served. */
export function callerCheckOf(config: Partial<CallerConfig>): CallerCheck {
  return { accepted: config.callerCredentials ?? new Map() };
}
