import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { STATE } from '@truckroll/local-stack';
import { Database } from '@truckroll/postgres';
import { groupsOf, startDispatcher, startServices } from '../system/programs.ts';
import type { Stack } from '../system/stack.ts';
import { createEndpoints, type Endpoint } from './endpoints.ts';
import type { Sinks } from './sinks.ts';

export const DATABASE = 'truckroll_webhooks';
/** A separate folder, so that it can run next to the other benchmarks' data. */
export const FOLDER = join(STATE, 'benchmarks-webhooks');

/** Starts integrations, scheduling and the dispatcher without data from earlier runs. `database` uses scheduling's schema. */
export async function startWebhooks(stack: Stack, sinks: Pick<Sinks, 'pid' | 'environment'>, env: Record<string, string> = {}) {
  const database = new Database({ url: stack.databaseUrl, schema: 'scheduling', maxConnections: 2 });
  // Secrets change with each run, and an interrupted run may have left data.
  for (const schema of ['scheduling', 'integrations']) await database.query({ text: `drop schema if exists ${schema} cascade` });
  const shared = { KAFKA_PREFIX: `${randomBytes(4).toString('hex')}.`, ...sinks.environment, LOG_LEVEL: 'error', ...env };
  // Log warnings here: services explain refusals, which end the run.
  const services = await startServices(stack, ['integrations', 'scheduling'], { ...shared, LOG_LEVEL: 'warn' });
  const dispatcher = await startDispatcher(stack, services, shared);
  const { integrations, scheduling } = services.running;
  const groups = await groupsOf(stack, { scheduling, integrations, dispatcher, receivers: sinks });
  const create = (count: number, urlsInTurn: readonly string[]): Promise<Endpoint[]> =>
    createEndpoints(
      services.channels.integrations,
      Array.from({ length: count }, (_, i) => urlsInTurn[i % urlsInTurn.length] as string),
    );
  return { database, services, dispatcher, groups, create };
}
