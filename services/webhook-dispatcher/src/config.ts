import { callCredentialSetting, grpcSettings } from '@truckroll/grpc';
import { kafkaSettings } from '@truckroll/outbox';
import { ConfigError, baseSettings, env, readConfig, type Config } from '@truckroll/process';
import { checkAllowedTargets, checkDeniedTargets } from '@truckroll/webhook-targets';

const settings = {
  ...baseSettings(50055),
  ...grpcSettings,
  callCredential: callCredentialSetting('CALL_CREDENTIAL', 'webhook-dispatcher'),
  ...kafkaSettings(),
  integrationsAddress: env.string('INTEGRATIONS_ADDRESS'),
  /** Exact address:port pairs that are allowed although they are private, and over http. */
  allowedTargets: env.list('WEBHOOK_ALLOWED_TARGETS', []),
  /** Addresses and CIDR ranges that receive nothing, even if they are allowed targets. */
  deniedTargets: env.list('WEBHOOK_DENIED_TARGETS', []),
  /** Whether to allow http to public hosts. */
  allowHttp: env.boolean('WEBHOOK_ALLOW_HTTP', false),
  /** Maximum concurrent exchanges, not counting slow ones: see Bulkhead. */
  maxInFlight: env.integer('WEBHOOK_MAX_IN_FLIGHT', { min: 1, max: 10_000 }, 256),
  /** Maximum concurrent exchanges with one endpoint across all replicas. An accepted delivery no longer counts, even before its attempt is stored. */
  maxInFlightPerEndpoint: env.integer('WEBHOOK_MAX_IN_FLIGHT_PER_ENDPOINT', { min: 1, max: 1000 }, 10),
  /** Maximum connections to one address, across all endpoints. */
  maxConnectionsPerAddress: env.integer('WEBHOOK_MAX_CONNECTIONS_PER_ADDRESS', { min: 1, max: 10_000 }, 100),
};

export type WebhookDispatcherConfig = Config<typeof settings>;

/** Throws a ConfigError that lists the missing and invalid settings. */
export function webhookDispatcherConfig(environment: Readonly<Record<string, string | undefined>>): WebhookDispatcherConfig {
  const config = readConfig(settings, environment);
  try {
    checkAllowedTargets(config.allowedTargets);
    checkDeniedTargets(config.deniedTargets);
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
  return config;
}
