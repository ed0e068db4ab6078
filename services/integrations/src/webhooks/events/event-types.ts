// Event types that endpoints can subscribe to (api.md, Events).
import { exampleRecord, publicEvents } from '@truckroll/contract';
import type { WebhookEventType } from '@truckroll/contract/gen/integrations/v1/webhooks';

export const eventTypes: readonly WebhookEventType[] = publicEvents
  .filter(({ subscribable }) => subscribable)
  .map(({ type, body }) => ({
    type,
    get description() {
      return body.doc;
    },
    get example() {
      return JSON.stringify(exampleRecord(body, 'snake'));
    },
  }));
