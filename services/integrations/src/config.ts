import { callerSettings, grpcSettings } from '@truckroll/grpc';
import { mailSettings, type MailConfig } from '@truckroll/mail';
import { kafkaSettings } from '@truckroll/outbox';
import { databaseSettings } from '@truckroll/postgres';
import { ConfigError, baseSettings, env, readConfig, type Config } from '@truckroll/process';
import { redisSetting } from '@truckroll/redis';
import { checkAllowedTargets, checkDeniedTargets } from '@truckroll/webhook-targets';

const settings = {
  ...baseSettings(50054),
  ...grpcSettings,
  ...callerSettings,
  ...databaseSettings,
  redis: redisSetting('REDIS_URL'),
  ...kafkaSettings(),
  /** The first key encrypts the signing secrets of webhook endpoints; all keys can decrypt them. */
  webhookSecretKeys: env.keyRing('WEBHOOK_SECRET_KEYS'),
  /** Exact address:port pairs that may receive webhooks although they are private, and over http. Give the dispatcher the same value. */
  webhookAllowedTargets: env.list('WEBHOOK_ALLOWED_TARGETS', []),
  /** Addresses and CIDR ranges that receive no webhooks. Give the dispatcher the same value. */
  webhookDeniedTargets: env.list('WEBHOOK_DENIED_TARGETS', []),
  /** Whether to allow http to public hosts. Give the dispatcher the same value. */
  webhookAllowHttp: env.boolean('WEBHOOK_ALLOW_HTTP', false),
};

export type IntegrationsConfig = Config<typeof settings> & MailConfig;

/** Throws a ConfigError that lists the missing and invalid settings. */
export function integrationsConfig(environment: Readonly<Record<string, string | undefined>>): IntegrationsConfig {
  const config = readConfig({ ...settings, ...mailSettings }, environment);
  try {
    checkAllowedTargets(config.webhookAllowedTargets);
    checkDeniedTargets(config.webhookDeniedTargets);
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
  return config;
}
