// Requests for tests of /api/v1. Every answer is checked against the published description.
import { randomUUID } from 'node:crypto';
import { now } from '@truckroll/contract';
import { DeliveryServiceService, type LeasedDelivery } from '@truckroll/contract/gen/integrations/v1/deliveries';
import type { Callers } from '@truckroll/grpc';
import { violations } from './openapi.ts';
import type { System, TestCompany } from './system.ts';

export const HOOKS = '/api/v1/integrations/webhooks';
export const CREATE = { name: 'Lead sync', url: 'https://example.com/hook', eventTypes: ['service_request.created', 'interaction.completed'] };

interface Answer {
  status: number;
  body: any;
}

export interface WebhooksApi {
  /** Uses a user token unless another credential is given. Fails if the description lacks the answer. */
  call(verb: string, path: string, body?: unknown, credential?: string): Promise<Answer>;
  endpoint(fields?: object): Promise<any>;
  readonly deliveries: Callers<typeof DeliveryServiceService>;
  happen(count?: number, type?: string): Promise<void>;
  lease(endpointId: string): Promise<LeasedDelivery[]>;
}

export function webhooksApi(system: System, company: TestCompany): WebhooksApi {
  async function call(verb: string, path: string, body?: unknown, credential = system.userToken(company)): Promise<Answer> {
    const response = await fetch(`${system.baseUrl}${path}`, {
      method: verb,
      headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = { status: response.status, body: await response.json() };
    const route = path
      .replace(/\?.*/, '')
      .replace(/(webhooks)\/[^/]+(?=\/(deliveries|redeliver))/, '$1/{webhookId}')
      .replace(/[^/]+(?=\/attempts)/, '{deliveryId}')
      .replace(/(views)\/[^/]+/, '$1/{name}')
      .replace(/(webhooks|deliveries|api-keys)\/(?!\{|filter-preview)[^/]+/g, '$1/{id}');
    expect(violations(verb.toLowerCase(), route, answer.status, answer.body)).toEqual([]);
    return answer;
  }

  async function endpoint(fields: object = {}): Promise<any> {
    const { status, body } = await call('POST', HOOKS, { ...CREATE, ...fields });
    expect(status).toBe(201);
    return body.data;
  }

  const deliveries = system.channel('integrations').client(DeliveryServiceService);

  async function happen(count = 1, type = 'service_request.created'): Promise<void> {
    const events = Array.from({ length: count }, (_, i) => ({
      id: randomUUID(),
      type,
      company_id: company.id,
      subject: randomUUID(),
      sequence: 1,
      timestamp: now() + i * 1000,
      body: Buffer.from(`{"type":"${type}","note":"✓"}`),
    }));
    await deliveries.fanOut({ events, dead_letter_ids: [] });
  }

  async function lease(endpointId: string): Promise<LeasedDelivery[]> {
    const leased = await deliveries.lease({
      worker_id: 'test',
      max_deliveries: 1000,
      max_in_flight_per_endpoint: 100,
      excluded_endpoint_ids: [],
      busy_companies: [],
      taken_delivery_ids: [],
    });
    return leased.deliveries.filter((delivery) => delivery.endpoint_id === endpointId);
  }

  return { call, endpoint, deliveries, happen, lease };
}
