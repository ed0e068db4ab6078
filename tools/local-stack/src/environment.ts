import { join } from 'node:path';
import { readJson, writeJson } from './files.ts';
import { identify, isRunning, type ProcessIdentity } from './processes/identity.ts';
import type { Addresses } from './servers/index.ts';

type ServerEnvironment = Record<'DATABASE_URL' | 'REDIS_URL' | 'KAFKA_BROKERS', string>;

export function serverEnvironment(addresses: Addresses): ServerEnvironment {
  return { DATABASE_URL: addresses.databaseUrl, REDIS_URL: addresses.redisUrl, KAFKA_BROKERS: addresses.kafkaBrokers };
}

export const serversFile = (state: string): string => join(state, 'servers.json');

export function shareServers(state: string, environment: ServerEnvironment): void {
  writeJson(serversFile(state), { ...environment, ...identify(process.pid) });
}

/** Servers that another process of this checkout shares. Empty when no such process runs, even if an ended one left its file behind. */
export function sharedServers(state: string): Partial<ServerEnvironment> {
  const shared = readJson<ServerEnvironment & ProcessIdentity>(serversFile(state));
  if (shared === undefined || !isRunning(shared)) return {};
  const { DATABASE_URL, REDIS_URL, KAFKA_BROKERS } = shared;
  return { DATABASE_URL, REDIS_URL, KAFKA_BROKERS };
}
