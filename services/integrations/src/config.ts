import { mailSettings, type MailConfig } from '@truckroll/mail';
import { kafkaSettings } from '@truckroll/outbox';
import { redisSetting } from '@truckroll/redis';
import { ConfigError, baseSettings, callerSettings, databaseSettings, env, readConfig, type Config } from '@truckroll/service-kit';
import { checkAllowedTargets, checkDeniedTargets } from '@truckroll/webhook-targets';

const settings = {
  ...baseSettings(50054),
  ...callerSettings,
  ...databaseSettings,
  redis: redisSetting('REDIS_URL'),
  ...kafkaSettings(),
  /** The first seals the signing secrets of webhook endpoints, all open them. */
  webhookSecretKeys: env.keyRing('WEBHOOK_SECRET_KEYS'),
  /** Where webhooks may be sent beyond https to public hosts; tell the dispatcher the same. Exact address:port pairs: */
  webhookAllowedTargets: env.list('WEBHOOK_ALLOWED_TARGETS', []),
  /** Addresses and CIDR ranges that receive no webhooks. Give the dispatcher the same value. */
  webhookDeniedTargets: env.list('WEBHOOK_DENIED_TARGETS', []),
  /** Whether public hosts may be reached by http. */
  webhookAllowHttp: env.boolean('WEBHOOK_ALLOW_HTTP', false),
};

export type IntegrationsConfig = Config<typeof settings> & MailConfig;

/** Throws ConfigError that names everything missing or invalid. */
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
