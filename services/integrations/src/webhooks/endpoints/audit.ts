import { messageJson } from '@truckroll/contract';
import type { Webhook } from '@truckroll/contract/gen/integrations/v1/webhooks';
import type { Caller } from '@truckroll/contract/gen/type/v1/type';
import type { Transaction } from '@truckroll/postgres';
import { auditing } from '../../audit/store.ts';
import { callerOf } from '../../requests.ts';

interface EndpointChange {
  action: string;
  before?: Webhook;
  after?: Webhook;
  /** Parameters of an action that does not change settings. */
  of?: object;
}

/** Adds a client's action to the trail and commits, in the same round trip. */
export async function auditEndpoint(
  tx: Transaction,
  request: { caller?: Caller | null | undefined },
  id: string,
  { action, before, after, of }: EndpointChange,
): Promise<void> {
  const caller = callerOf(request);
  const state = { before: before && stateOf(before), after: after === undefined ? of && JSON.stringify(of) : stateOf(after) };
  await tx.finish([auditing({ caller, companyId: caller.company_id, action, object: { kind: 'webhooks', id }, ...state })]);
}

/** The endpoint's settings, without the fields that change with deliveries. */
function stateOf(endpoint: Webhook): string {
  const shown = JSON.parse(messageJson('truckroll.integrations.v1.Webhook', endpoint, 'camel')) as Record<string, unknown>;
  const { lastDeliveryAt: _at, lastDeliveryStatus: _status, health: _health, ...settings } = shown;
  return JSON.stringify(settings);
}
