import { messageJson } from '@truckroll/contract';
import type { Webhook } from '@truckroll/contract/gen/integrations/v1/webhooks';
import type { Caller } from '@truckroll/contract/gen/type/v1/type';
import type { Transaction } from '@truckroll/postgres';
import { shortened } from '../../audit/states.ts';
import { audit, auditing } from '../../audit/store.ts';
import { callerOf } from '../../requests.ts';
import type { SecretBox } from './secrets.ts';

interface EndpointChange {
  action: string;
  before?: Webhook;
  after?: Webhook;
  /** Parameters of an action that does not change settings. */
  of?: object;
}

/** Adds a client's action to the trail and commits, in the same round trip. Throws 429 if the company's trail is full for today. */
export async function auditEndpoint(
  tx: Transaction,
  secrets: SecretBox,
  request: { caller?: Caller | null | undefined },
  id: string,
  { action, before, after, of }: EndpointChange,
): Promise<void> {
  const caller = callerOf(request);
  const companyId = caller.company_id;
  const shown = (endpoint: Webhook): string => stateOf(endpoint, (json) => secrets.hash(companyId, json));
  const state = { before: before && shown(before), after: after === undefined ? of && JSON.stringify(of) : shown(after) };
  await tx.finish(await auditing(tx, { caller, companyId, action, object: { kind: 'webhooks', id }, ...state }));
}

/** Adds the removal of an endpoint that has expired to the trail, as an action of this service. */
export async function auditRemoval(tx: Transaction, secrets: SecretBox, companyId: string, endpoint: Webhook): Promise<void> {
  const before = stateOf(endpoint, (json) => secrets.hash(companyId, json));
  await audit(tx, { companyId, operator: 'integrations', action: 'webhook.expired', object: { kind: 'webhooks', id: endpoint.id }, before });
}

/** The endpoint's settings, without the fields that change with deliveries. */
function stateOf(endpoint: Webhook, hashOf: (json: string) => string): string {
  const shown = JSON.parse(messageJson('truckroll.integrations.v1.Webhook', endpoint, 'camel')) as Record<string, unknown>;
  const { lastDeliveryAt: _at, lastDeliveryStatus: _status, health: _health, ...settings } = shown;
  return JSON.stringify(shortened(settings, hashOf));
}
