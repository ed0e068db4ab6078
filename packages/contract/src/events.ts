// The public events, read off public_events.proto: what webhooks can tell.
import { option, registry } from './image.ts';
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
    .flatMap(({ messages }) => messages)
    .flatMap((message) => {
      const type = option<string>(message, 'truckroll.options.v1.event_type');
      return type === undefined ? [] : [Object.freeze({ type, body: shapeOf(message), subscribable: type !== TEST_EVENT })];
    }),
);

/** The types of event that a text of each format can name. */
export const eventTypesOf: Readonly<Record<'event_type' | 'subscription', readonly EventType[]>> = {
  event_type: publicEvents,
  subscription: publicEvents.filter(({ subscribable }) => subscribable),
};
