import { kafkaSettings } from '@truckroll/outbox';
import { baseSettings, callerSettings, databaseSettings, readConfig, type Config } from '@truckroll/service-kit';

const settings = {
  ...baseSettings(50053),
  ...callerSettings,
  ...databaseSettings,
  ...kafkaSettings(),
};

export type ReportingConfig = Config<typeof settings>;

/** Throws a ConfigError that names everything missing or invalid. */
export function reportingConfig(environment: Readonly<Record<string, string | undefined>>): ReportingConfig {
  return readConfig(settings, environment);
}
