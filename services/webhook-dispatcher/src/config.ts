import { callCredentialSetting, checkTls, grpcSettings } from '@truckroll/grpc';
import { checkKafka, kafkaSettings } from '@truckroll/outbox';
import { baseSettings, env, readConfig, type Config } from '@truckroll/process';
import { checkAllowedTargets, parseDeniedTargets } from '@truckroll/webhook-targets';

export const settings = {
  ...baseSettings(50055),
  ...grpcSettings,
  /** Credential with which this component proves its name to those it calls: `<caller>.<secret>`. */
  callCredential: callCredentialSetting('CALL_CREDENTIAL', 'webhook-dispatcher'),
  ...kafkaSettings(),
  /** `host:port` of integrations. With the name of a headless Service, calls spread over its pods. */
  integrationsAddress: env.address('INTEGRATIONS_ADDRESS'),
  /** Exact `address:port` pairs that may receive webhooks although they are private, and over http. The same for both components. */
  allowedTargets: env.list('WEBHOOK_ALLOWED_TARGETS', []),
  /** Addresses and CIDR ranges that receive no webhooks, even if they are allowed targets. The same for both components. */
  deniedTargets: env.list('WEBHOOK_DENIED_TARGETS', []),
  /** Whether webhooks may go to public hosts over http. The same for both components. */
  allowHttp: env.boolean('WEBHOOK_ALLOW_HTTP', false),
  /** Maximum concurrent exchanges of one replica, not counting those that take longer than a second. */
  maxInFlight: env.integer('WEBHOOK_MAX_IN_FLIGHT', { min: 1, max: 10_000 }, 256),
  /** Maximum concurrent exchanges with one endpoint across all replicas. An accepted delivery no longer counts, even before its attempt is stored. */
  maxInFlightPerEndpoint: env.integer('WEBHOOK_MAX_IN_FLIGHT_PER_ENDPOINT', { min: 1, max: 1000 }, 10),
  /** Maximum connections of one replica to one address, across all endpoints, idle ones included. */
  maxConnectionsPerAddress: env.integer('WEBHOOK_MAX_CONNECTIONS_PER_ADDRESS', { min: 1, max: 10_000 }, 100),
};

export type WebhookDispatcherConfig = Config<typeof settings>;

/** Throws a ConfigError that lists the missing and invalid settings. */
export function webhookDispatcherConfig(environment: Readonly<Record<string, string | undefined>>): WebhookDispatcherConfig {
  return readConfig(settings, environment, [
    checkTls,
    checkKafka,
    ({ allowedTargets = [] }) => checkAllowedTargets(allowedTargets),
    ({ deniedTargets = [] }) => parseDeniedTargets(deniedTargets),
  ]);
}
