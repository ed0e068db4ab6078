// Starts unary calls on a connection that grpc-js establishes, balances and maintains, without the client layers above it.
//
// Fault: each unary call of a grpc-js client passes interceptors, compression and configured retries, which add promises and copies of the
// metadata even where none is configured (docs/adr/0010).
// Upstream: no upstream issue known.
// Ends: when a client without interceptors and filters is about as fast by itself (docs/adr/0010).
import { status as GrpcStatus, type Client, type Metadata, type StatusObject } from '@grpc/grpc-js';
import { FrameDecoder } from './frame-decoder.ts';
import { FRAME_BYTES, headed } from './framing.ts';
import { LARGEST_MESSAGE } from '../options.ts';

interface SubchannelCall {
  decoder: { write(data: Buffer): Buffer[] };
  sendMessageWithContext(context: object, frame: Buffer): void;
  halfClose(): void;
  startRead(): void;
  cancelWithStatus(code: GrpcStatus, details: string): void;
}
interface Listener {
  onReceiveMetadata(metadata: Metadata): void;
  onReceiveMessage(frame: Buffer): void;
  onReceiveStatus(status: StatusObject): void;
}
interface Subchannel {
  createCall(metadata: { toHttp2Headers(): Record<string, string> }, host: string, method: string, listener: Listener, number: number): SubchannelCall;
}
interface InternalChannel {
  readonly defaultAuthority: string;
  /** Round robin among the connections that are up. */
  doPick(metadata: undefined, extra: object): { pickResultType: number; subchannel: { getRealSubchannel(): Subchannel } | null };
  onCallStart(): void;
  onCallEnd(status: StatusObject): void;
}

export interface DirectCall {
  readonly path: string;
  readonly message: Buffer;
  readonly headers: Record<string, string>;
  readonly deadlineMs: number;
  /** Called with the peer's metadata before the answer. */
  onMetadata(metadata: Metadata): void;
  /** Called once. `message` is defined if the status is OK. */
  onEnd(status: StatusObject, message: Buffer | undefined): void;
}

/** Ends a call early, with CANCELLED. */
export type Cancel = () => void;

const PICKED = 0;
/** Only uncompressed messages are supported. */
const HEADERS = { 'grpc-accept-encoding': 'identity', 'accept-encoding': 'identity' };
let number = 0;

/** The returned function starts a call, or returns undefined if no connection is up. */
export function directCalls(client: Client): (call: DirectCall) => Cancel | undefined {
  const { internalChannel: channel } = client.getChannel() as unknown as { internalChannel: InternalChannel };
  if (typeof channel?.doPick !== 'function') throw new Error('this version of @grpc/grpc-js has no internalChannel.doPick');

  return ({ path, message, headers, deadlineMs, onMetadata, onEnd }) => {
    const { pickResultType, subchannel } = channel.doPick(undefined, {});
    if (pickResultType !== PICKED || subchannel === null) return undefined;
    let answer: Buffer | undefined;
    let answers = 0;
    const listener: Listener = {
      onReceiveMetadata: onMetadata,
      onReceiveMessage(frame) {
        answers += 1;
        if (frame[0] === 0) answer = frame.subarray(FRAME_BYTES);
        call.startRead();
      },
      onReceiveStatus(status) {
        clearTimeout(late);
        channel.onCallEnd(status);
        const whole = status.code !== GrpcStatus.OK || (answers === 1 && answer !== undefined);
        onEnd(whole ? status : { ...status, code: GrpcStatus.UNIMPLEMENTED, details: 'not one answer that is not compressed' }, answer);
      },
    };
    const all = { ...headers, ...HEADERS, 'grpc-timeout': `${Math.ceil(deadlineMs)}m` };
    let call: SubchannelCall;
    try {
      call = subchannel.getRealSubchannel().createCall({ toHttp2Headers: () => all }, channel.defaultAuthority, path, listener, (number += 1));
    } catch {
      // The connection was just lost; nothing has been sent.
      return undefined;
    }
    if (typeof call.decoder?.write !== 'function') throw new Error('this version of @grpc/grpc-js has calls without a decoder');
    call.decoder = new FrameDecoder(LARGEST_MESSAGE);
    channel.onCallStart();
    const late = setTimeout(() => call.cancelWithStatus(GrpcStatus.DEADLINE_EXCEEDED, `no answer within ${deadlineMs} ms`), deadlineMs);
    call.startRead();
    call.sendMessageWithContext({}, framed(message));
    call.halfClose();
    return () => call.cancelWithStatus(GrpcStatus.CANCELLED, 'Cancelled on client');
  };
}

function framed(message: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_BYTES + message.length);
  frame.set(message, FRAME_BYTES);
  return headed(frame);
}
