import { kafkaSettings } from '@truckroll/outbox';
import { baseSettings, env, readConfig, type Config } from '@truckroll/service-kit';

const settings = {
  ...baseSettings(50051),
  databaseUrl: env.url('DATABASE_URL'),
  ...kafkaSettings(),
};

export type SchedulingConfig = Config<typeof settings>;

/** Throws ConfigError that names everything missing or invalid. */
export function schedulingConfig(environment: Readonly<Record<string, string | undefined>>): SchedulingConfig {
  return readConfig(settings, environment);
}
