// Fault: a consumer of kafkajs can stop fetching without an event that says so.
// Upstream: tulios/kafkajs#659 (issue, open).
// Ends: with kafkajs itself, whose last stable release is 2.2.4 (docs/adr/0016).
import type { Consumer } from 'kafkajs';

/** Longest silence of a working consumer, in ms: a rebalance may take 20 s, a fetch takes about 2 s at most. */
const SILENCE_MS = 60_000;

/** Watches a consumer. `failed` resolves with the error when kafkajs gives up, or after a minute without a fetch, heartbeat or join. */
export function watch(consumer: Consumer): { readonly failed: Promise<Error>; stop(): void } {
  const { promise: failed, resolve } = Promise.withResolvers<Error>();
  const silence = setTimeout(() => resolve(new Error('the consumer has not fetched or sent a heartbeat for a minute')), SILENCE_MS);
  const { CRASH, FETCH, HEARTBEAT, GROUP_JOIN } = consumer.events;
  consumer.on(CRASH, ({ payload }) => resolve(payload.error));
  for (const event of [FETCH, HEARTBEAT, GROUP_JOIN]) consumer.on(event, () => silence.refresh());
  return { failed, stop: () => clearTimeout(silence) };
}
