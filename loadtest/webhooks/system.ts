import { randomBytes } from 'node:crypto';
import { CompanyAdminServiceService, UserAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { WebhookServiceService } from '@truckroll/contract/gen/integrations/v1/webhooks';
import type { Channel } from '@truckroll/grpc';
import { TIMEZONE } from '../data/companies.ts';
import { Database } from '@truckroll/postgres';
import { groupsOf, startDispatcher, startServices } from '../system/programs.ts';
import type { Stack } from '../system/stack.ts';
import type { Sinks } from './sinks.ts';

export const DATABASE = 'truckroll_webhooks';

export interface Endpoint {
  readonly id: string;
  readonly companyId: string;
  enable(enabled: boolean): Promise<void>;
}

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
  const create = async (count: number, urlsInTurn: readonly string[]): Promise<Endpoint[]> => {
    const endpoints: Endpoint[] = [];
    for (let at = 0; at < count; at++) endpoints.push(...(await createCompany(services.channels.integrations, [urlsInTurn[at % urlsInTurn.length]!])));
    return endpoints;
  };
  return { database, services, dispatcher, groups, create };
}

/** A new company with an endpoint for each URL. `filterOf` is the filter of an endpoint by its place among them. */
export async function createCompany(integrations: Channel, urls: readonly string[], filterOf?: (place: number) => string): Promise<Endpoint[]> {
  const companies = integrations.client(CompanyAdminServiceService);
  const users = integrations.client(UserAdminServiceService);
  const webhooks = integrations.client(WebhookServiceService);
  const { company } = await companies.createCompany({ name: 'Company', timezone: TIMEZONE });
  const company_id = company?.id as string;
  const { user } = await users.createUser({ company_id, email: 'load.test@example.com', first_name: 'Load', last_name: 'Test' });
  const caller = { company_id, time_zone: TIMEZONE, user_id: user?.id as string };
  const endpoints: Endpoint[] = [];
  for (const [place, url] of urls.entries()) {
    const { data } = await webhooks.createWebhook({ caller, name: 'Sink', url, event_types: ['service_request.created'], filter: filterOf?.(place) ?? null });
    const id = data?.id as string;
    endpoints.push({ id, companyId: company_id, enable: async (enabled) => void (await webhooks.updateWebhook({ caller, id, enabled })) });
  }
  return endpoints;
}
