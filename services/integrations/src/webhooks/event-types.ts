// What endpoints can subscribe to (api.md, Events).
import type { WebhookEventType } from '@truckroll/contract/gen/integrations/v1/webhooks';

export const eventTypes: readonly WebhookEventType[] = [
  { type: 'service_request.created', description: 'A service request was recorded.' },
  { type: 'service_request.status_changed', description: 'The status of a service request changed, booking included; `data` has `previous_status`.' },
  { type: 'service_request.booked', description: 'A service request was booked for the first time; comes after that change’s service_request.status_changed.' },
  { type: 'interaction.completed', description: 'A call or conversation is over.' },
];

/** Of the event that POST …/test sends; nobody subscribes to it. */
export const TEST_EVENT = 'webhook.test';
