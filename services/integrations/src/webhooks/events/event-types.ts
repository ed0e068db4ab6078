// Event types that endpoints can subscribe to (api.md, Events).
import { eventTypesOf, exampleRecord } from '@truckroll/contract';
import type { WebhookEventType } from '@truckroll/contract/gen/integrations/v1/webhooks';

/** Entries of the list of event types. Descriptions and examples are made on access, because they load the contract's comments. */
export const eventTypes: readonly WebhookEventType[] = eventTypesOf.subscription.map(({ type, body }) => ({
  type,
  get description() {
    return body.doc;
  },
  get example() {
    return JSON.stringify(exampleRecord(body, 'snake'));
  },
}));
