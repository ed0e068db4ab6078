import { kafkaSettings } from '@truckroll/outbox';
import { baseSettings, env, readConfig, type Config } from '@truckroll/service-kit';

const settings = {
  ...baseSettings(50054),
  databaseUrl: env.url('DATABASE_URL'),
  redisUrl: env.url('REDIS_URL'),
  ...kafkaSettings(),
};

export type IntegrationsConfig = Config<typeof settings>;

/** Throws ConfigError that names everything missing or invalid. */
export function integrationsConfig(environment: Readonly<Record<string, string | undefined>>): IntegrationsConfig {
  return readConfig(settings, environment);
}
