import { kafkaSettings } from '@truckroll/outbox';
import { baseSettings, callerSettings, env, readConfig, type Config } from '@truckroll/service-kit';

const settings = {
  ...baseSettings(50052),
  ...callerSettings,
  databaseUrl: env.url('DATABASE_URL'),
  ...kafkaSettings(),
};

export type BillingConfig = Config<typeof settings>;

/** Throws ConfigError that names everything missing or invalid. */
export function billingConfig(environment: Readonly<Record<string, string | undefined>>): BillingConfig {
  return readConfig(settings, environment);
}
