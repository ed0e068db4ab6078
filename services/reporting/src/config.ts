import { callerSettings, checkTls, grpcSettings } from '@truckroll/grpc';
import { checkKafka, kafkaSettings } from '@truckroll/outbox';
import { databaseSettings } from '@truckroll/postgres';
import { baseSettings, readConfig, type Config } from '@truckroll/process';

export const settings = {
  ...baseSettings(50053),
  ...grpcSettings,
  ...callerSettings,
  ...databaseSettings,
  ...kafkaSettings(),
};

export type ReportingConfig = Config<typeof settings>;

/** Throws a ConfigError that names everything missing or invalid. */
export function reportingConfig(environment: Readonly<Record<string, string | undefined>>): ReportingConfig {
  return readConfig(settings, environment, [checkTls, checkKafka]);
}
