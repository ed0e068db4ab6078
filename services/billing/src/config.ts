import { kafkaSettings } from '@truckroll/outbox';
import { baseSettings, callerSettings, databaseSettings, readConfig, type Config } from '@truckroll/service-kit';

const settings = {
  ...baseSettings(50052),
  ...callerSettings,
  ...databaseSettings,
  ...kafkaSettings(),
};

export type BillingConfig = Config<typeof settings>;

/** Throws a ConfigError that names everything missing or invalid. */
export function billingConfig(environment: Readonly<Record<string, string | undefined>>): BillingConfig {
  return readConfig(settings, environment);
}
