// Fault: a grpc-js server sends a status after its message: two writes, and two reads for the client.
// Upstream: no upstream issue known.
// Ends: with a version of grpc-js that sends both together for unary calls.
import { ServerInterceptingCall } from '@grpc/grpc-js';

/** Sends the status together with the only message rather than after it: one write for the server, one read for the client. */
export class UnaryCall extends ServerInterceptingCall {
  override sendMessage(message: unknown, sent: () => void): void {
    super.sendMessage(message, () => undefined);
    sent();
  }
}
