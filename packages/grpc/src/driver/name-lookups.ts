// Fault: after a failed look-up, grpc-js tries again only when a call is made, and fails that call with the old error: the first call to a
// peer that was not there at first would always fail.
// Upstream: follows from the fix of grpc/grpc-node#2090 (grpc/grpc-node#2092); no issue about it known.
// Ends: with a version of grpc-js that repeats failed look-ups by itself.
import { connectivityState, type Client } from '@grpc/grpc-js';

/** Interval between look-ups of a name that is unknown or whose addresses refuse connections, in ms. */
const LOOK_UP_MS = 1000;

/** Repeats the look-up of a client's target while no connection is up. */
export function repeatLookUps(client: Client): void {
  const channel = client.getChannel();
  const state = channel.getConnectivityState(false);
  if (state === connectivityState.SHUTDOWN) return;
  const failing = state === connectivityState.TRANSIENT_FAILURE;
  const timer = failing ? setInterval(() => channel.getConnectivityState(true), LOOK_UP_MS).unref() : undefined;
  channel.watchConnectivityState(state, Infinity, () => {
    clearInterval(timer);
    repeatLookUps(client);
  });
}
