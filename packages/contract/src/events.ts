import { option, registry } from './image.ts';
import { shapeOf, type Shape } from './shape.ts';

export interface EventType {
  /** `service_request.created`. */
  readonly type: string;
  /** The whole body that receivers get; its documentation says when the event is raised. */
  readonly body: Shape;
}

export const TEST_EVENT = 'webhook.test';

export const publicEvents: readonly EventType[] = Object.freeze(
  [...registry.files]
    .flatMap(({ messages }) => messages)
    .flatMap((message) => {
      const type = option<string>(message, 'truckroll.options.v1.event_type');
      return type === undefined ? [] : [Object.freeze({ type, body: shapeOf(message) })];
    }),
);

/** The types that a field of each format takes. Endpoints do not subscribe to test events, which go only to the endpoint under test. */
export const eventTypesOf: Readonly<Record<'event_type' | 'subscription', readonly EventType[]>> = {
  event_type: publicEvents,
  subscription: publicEvents.filter(({ type }) => type !== TEST_EVENT),
};
