import { kafkaSettings } from '@truckroll/outbox';
import { baseSettings, callerSettings, env, readConfig, type Config } from '@truckroll/service-kit';

const settings = {
  ...baseSettings(50053),
  ...callerSettings,
  databaseUrl: env.url('DATABASE_URL'),
  ...kafkaSettings(),
};

export type ReportingConfig = Config<typeof settings>;

/** Throws ConfigError that names everything missing or invalid. */
export function reportingConfig(environment: Readonly<Record<string, string | undefined>>): ReportingConfig {
  return readConfig(settings, environment);
}
