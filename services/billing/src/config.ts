import { callerSettings, checkTls, grpcSettings } from '@truckroll/grpc';
import { checkKafka, kafkaSettings } from '@truckroll/outbox';
import { databaseSettings } from '@truckroll/postgres';
import { baseSettings, readConfig, type Config } from '@truckroll/process';

export const settings = {
  ...baseSettings(50052),
  ...grpcSettings,
  ...callerSettings,
  ...databaseSettings,
  ...kafkaSettings(),
};

export type BillingConfig = Config<typeof settings>;

/** Throws a ConfigError that names everything missing or invalid. */
export function billingConfig(environment: Readonly<Record<string, string | undefined>>): BillingConfig {
  return readConfig(settings, environment, [checkTls, checkKafka]);
}
