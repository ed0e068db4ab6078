// GET /api/v1/integrations/summary through the gateway, of a company's own service requests and endpoints (decisions §16).
import { randomUUID } from 'node:crypto';
import { now } from '@truckroll/contract';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { ServiceRequestChannel, ServiceRequestStatus } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { until } from '@truckroll/testing/until';
import { reportOf } from '../services/integrations/test/webhooks.ts';
import { startSystem, type System, type TestCompany } from './support/system.ts';
import { HOOKS, webhooksApi, type WebhooksApi } from './support/webhooks-api.ts';

const SUMMARY = '/api/v1/integrations/summary';
const NOTHING = { unbookedServiceRequests: 0, failingEndpoints: 0, pausedEndpoints: 0 };

let system: System;
let company: TestCompany;
let other: TestCompany;
let api: WebhooksApi;
beforeAll(async () => {
  system = await startSystem();
  [company, other] = [await system.createCompany(), await system.createCompany()];
  api = webhooksApi(system, company);
}, 60_000);
afterAll(() => system.stop());

const summary = async (credential?: string) => (await api.call('GET', SUMMARY, undefined, credential)).body.data;

test('counts unbooked service requests, failing and paused endpoints, for a user and a key of the company', async () => {
  expect(await summary()).toEqual(NOTHING);
  const intake = system.channel('scheduling').client(IntakeServiceService);
  const ids = [randomUUID(), randomUUID(), randomUUID()];
  for (const id of ids) await intake.recordServiceRequest({ company_id: company.id, id, channel: ServiceRequestChannel.PHONE });
  await intake.changeServiceRequestStatus({ company_id: company.id, id: ids[0]!, status: ServiceRequestStatus.CLOSED });

  await api.endpoint();
  const { id } = await api.endpoint();
  await api.happen();
  const [delivery] = await api.lease(id);
  await api.deliveries.report(reportOf(delivery!, { response_status: 500, circuit_open_until: now() + 60_000_000 }));
  const expected = { unbookedServiceRequests: 2, failingEndpoints: 1, pausedEndpoints: 0 };
  expect(await summary()).toEqual(expected);
  expect(await summary(company.apiKey)).toEqual(expected);
  expect(await summary(system.userToken(other))).toEqual(NOTHING);

  await api.call('PATCH', `${HOOKS}/${id}`, { state: 'PAUSED' });
  expect(await summary()).toMatchObject({ failingEndpoints: 0, pausedEndpoints: 1 });
  await api.call('PATCH', `${HOOKS}/${id}`, { state: 'DISABLED' });
  expect(await summary()).toMatchObject({ failingEndpoints: 0, pausedEndpoints: 0 });
});

test('takes no parameters and no body fields', async () => {
  const { status, body } = await api.call('GET', `${SUMMARY}?status=NEW`);
  expect([status, body.error.details]).toMatchObject([400, [{ location: 'query', field: 'status', code: 'UNKNOWN_PARAMETER' }]]);
});

test('answers 503 while scheduling is away', async () => {
  await system.stopService('scheduling');
  expect((await api.call('GET', SUMMARY)).status).toBe(503);
  await system.startService('scheduling');
  await until('scheduling to be back', async () => (await api.call('GET', SUMMARY)).status === 200);
});
