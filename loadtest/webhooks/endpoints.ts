import { CompanyAdminServiceService, UserAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { WebhookServiceService } from '@truckroll/contract/gen/integrations/v1/webhooks';
import type { Channel } from '@truckroll/grpc';

export interface Endpoint {
  readonly id: string;
  readonly companyId: string;
  enable(enabled: boolean): Promise<void>;
}

const TIME_ZONE = 'America/Chicago';

export async function createEndpoints(integrations: Channel, urls: readonly string[]): Promise<Endpoint[]> {
  const endpoints: Endpoint[] = [];
  for (const url of urls) endpoints.push(...(await createCompany(integrations, [url])));
  return endpoints;
}

export async function createCompany(integrations: Channel, urls: readonly string[]): Promise<Endpoint[]> {
  const companies = integrations.client(CompanyAdminServiceService);
  const users = integrations.client(UserAdminServiceService);
  const webhooks = integrations.client(WebhookServiceService);
  const { company } = await companies.createCompany({ name: 'Company', timezone: TIME_ZONE });
  const company_id = company?.id as string;
  const { user } = await users.createUser({ company_id, email: 'load.test@example.com', first_name: 'Load', last_name: 'Test' });
  const caller = { company_id, time_zone: TIME_ZONE, user_id: user?.id as string };
  const endpoints: Endpoint[] = [];
  for (const url of urls) {
    const { data } = await webhooks.createWebhook({ caller, name: 'Sink', url, event_types: ['service_request.created'] });
    const id = data?.id as string;
    endpoints.push({ id, companyId: company_id, enable: async (enabled) => void (await webhooks.updateWebhook({ caller, id, enabled })) });
  }
  return endpoints;
}
