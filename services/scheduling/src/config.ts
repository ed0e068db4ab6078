import { callerSettings, checkTls, grpcSettings } from '@truckroll/grpc';
import { checkMail } from '@truckroll/mail';
import { checkKafka, kafkaSettings } from '@truckroll/outbox';
import { databaseSettings } from '@truckroll/postgres';
import { baseSettings, readConfig, type Config } from '@truckroll/process';
import { notificationSettings, type NotificationConfig } from './notifications/settings.ts';

const own = {
  ...baseSettings(50051),
  ...grpcSettings,
  ...callerSettings,
  ...databaseSettings,
  ...kafkaSettings(),
};

/** @public The generator of docs/reference/configuration.md reads it. */
export const settings = { ...own, ...notificationSettings };

export type SchedulingConfig = Config<typeof own> & NotificationConfig;

/** Throws a ConfigError that names everything missing or invalid. */
export function schedulingConfig(environment: Readonly<Record<string, string | undefined>>): SchedulingConfig {
  return readConfig(settings, environment, [checkTls, checkKafka, checkMail]);
}
