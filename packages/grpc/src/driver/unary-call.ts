// Fault: a grpc-js server sends a status after its message: two writes, and two reads for the client.
// Upstream: no upstream issue known.
// Ends: with a version of grpc-js that sends both together for unary calls.
import { ServerInterceptingCall } from '@grpc/grpc-js';

export class UnaryCall extends ServerInterceptingCall {
  override sendMessage(message: unknown, sent: () => void): void {
    super.sendMessage(message, () => undefined);
    sent();
  }
}
