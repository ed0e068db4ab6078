import type { Consumer } from 'kafkajs';

/** A rebalance may take 20 s, a fetch a fraction of one. Milliseconds. */
const SILENCE_MS = 60_000;

/** Watches a consumer: `failed` resolves when kafkajs gives it up, or when it neither fetches nor beats for a minute. */
export function watch(consumer: Consumer): { readonly failed: Promise<Error>; stop(): void } {
  const { promise: failed, resolve } = Promise.withResolvers<Error>();
  let seenAt = performance.now();
  const seen = () => {
    seenAt = performance.now();
  };
  const { CRASH, FETCH, HEARTBEAT, GROUP_JOIN } = consumer.events;
  consumer.on(CRASH, ({ payload }) => resolve(payload.error));
  for (const event of [FETCH, HEARTBEAT, GROUP_JOIN]) consumer.on(event, seen);
  const timer = setInterval(() => {
    if (performance.now() - seenAt > SILENCE_MS) resolve(new Error('the consumer shows no sign of life'));
  }, SILENCE_MS / 10);
  return { failed, stop: () => clearInterval(timer) };
}
