// The public events, read off public_events.proto: what webhooks can tell.
import { registry } from './image.ts';
import { shapeOf, type Shape } from './shape.ts';

export interface EventType {
  /** `service_request.created`. */
  readonly type: string;
  /** The whole body that receivers get; its documentation says when the event is raised. */
  readonly body: Shape;
  /** Whether endpoints choose it. A test is sent to whom it is asked for. */
  readonly subscribable: boolean;
}

/** Of the event that is sent to try an endpoint. */
export const TEST_EVENT = 'webhook.test';

/** Every type of event that webhooks send, in the contract's order. */
export const publicEvents: readonly EventType[] = Object.freeze(
  [...registry.files]
    .filter(({ name }) => name === 'truckroll/events/v1/public_events')
    .flatMap(({ messages }) => messages)
    .flatMap((message) => {
      const body = shapeOf(message);
      const type = body.byName.get('type')?.example;
      return type === undefined ? [] : [Object.freeze({ type, body, subscribable: type !== TEST_EVENT })];
    }),
);
