import type { Addresses } from './servers/index.ts';

/** The names under which programs look for the servers. */
export function serverEnvironment(addresses: Addresses): Record<string, string> {
  return { DATABASE_URL: addresses.databaseUrl, REDIS_URL: addresses.redisUrl, KAFKA_BROKERS: addresses.kafkaBrokers };
}
