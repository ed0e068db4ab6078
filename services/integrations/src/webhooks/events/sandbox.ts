import type { PublicEvent } from '@truckroll/contract/gen/integrations/v1/deliveries';

const META = Buffer.from(',"meta":{"sandbox":true}}');

/** The event with a body, a JSON object, that says that its company's records are generated. */
export function asSandbox(event: PublicEvent): PublicEvent {
  return { ...event, body: Buffer.concat([event.body.subarray(0, -1), META]) };
}
