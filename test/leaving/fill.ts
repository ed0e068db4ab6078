// A company that has something of every kind: records, an endpoint with deliveries, views, messages and service requests.
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { ServiceRequestChannel } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { testCaller } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import type { Receiver } from '../../services/webhook-dispatcher/test/support/receiver.ts';
import { truckroll } from '../../tools/cli/test/system.ts';
import { demoLines } from '../support/demo.ts';
import { untilFollowed } from '../support/read-models.ts';
import type { Json } from '../support/expected.ts';
import type { System, TestCompany } from '../support/system.ts';

/** `name` is in all of it, and `headers` are sent to the endpoint. Returns the endpoint, as the API answered it. */
export async function fill(system: System, receiver: Receiver, company: TestCompany, name: string, seed: number, headers: readonly Json[] = []): Promise<Json> {
  for (const [path, lines] of demoLines({ seed, size: 12, timezone: company.timezone, until: '2026-11-20T18:00:00Z' })) {
    const own = path === 'accounts' ? lines.map((line) => ({ ...line, name })) : lines;
    expect((await system.importRecords(company, path, own)).problems).toEqual([]);
  }
  const asUser = { authorization: `Bearer ${system.userToken(company)}`, 'content-type': 'application/json' };
  const webhooks = await fetch(`${system.baseUrl}/api/v1/integrations/webhooks`, {
    method: 'POST',
    headers: asUser,
    body: JSON.stringify({ name, url: receiver.url, eventTypes: ['service_request.created'], headers }),
  });
  expect(webhooks.status).toBe(201);
  const view = await fetch(`${system.baseUrl}/api/v1/integrations/views/${name}`, {
    method: 'PUT',
    headers: asUser,
    body: JSON.stringify({ query: '#/jobs?search=x', shared: true }),
  });
  expect(view.status).toBeLessThan(300);
  const received = receiver.received.length;
  await request(system, company, name);
  await until(
    'a webhook',
    () => receiver.received.length,
    (count) => count > received,
  );
  const text = 'insert into integrations.mails (company_id, user_id, subject, body, due_at) values ($1, $2, $3, $3, now())';
  await system.database.query({ text, values: [company.id, company.userId, name] });
  expect((await system.get(company, '/v1/accounts?limit=1')).status).toBe(200);
  await untilFollowed(system, company);
  return (await webhooks.json()) as Json;
}

export function request(system: System, company: TestCompany, name: string): Promise<unknown> {
  const intake = system.channel('scheduling').client(IntakeServiceService);
  return intake.recordServiceRequest({ company_id: company.id, id: randomUUID(), channel: ServiceRequestChannel.PHONE, summary: name });
}

/** The value with `id` in place of `from`, and under `name` wherever it has one. */
export function renamed(value: unknown, from: string, id: string, name: string): unknown {
  if (Array.isArray(value)) return value.map((each) => renamed(each, from, id, name));
  if (typeof value !== 'object' || value === null) return value === from ? id : value;
  const fields = Object.fromEntries(Object.entries(value).map(([field, each]) => [field, renamed(each, from, id, name)]));
  return fields['id'] === id && 'name' in fields ? { ...fields, name } : fields;
}

/** A command of the operator, with its output as JSON. */
export function operatorsCommand(system: System, args: readonly string[], folder = tmpdir(), signal?: AbortSignal): ReturnType<typeof truckroll> {
  return operatorsText(system, ['--json', ...args], folder, signal);
}

/** A command of the operator, with its output as people see it. */
export function operatorsText(system: System, args: readonly string[], folder = tmpdir(), signal?: AbortSignal): ReturnType<typeof truckroll> {
  const addresses = Object.fromEntries(Object.entries(system.gatewayEnvironment).filter(([name]) => name.endsWith('_ADDRESS')));
  return truckroll([...args], { CALL_CREDENTIAL: testCaller('operator').text, ...addresses }, folder, false, signal);
}
