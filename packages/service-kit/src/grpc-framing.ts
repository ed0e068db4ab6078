// gRPC puts five bytes before every message: a flag and the length. grpc-js makes room for them by copying the message
// (docs/adr/0010); an answer that was written behind such room goes out as it is.
import { BaseServerInterceptingCall } from '@grpc/grpc-js/build/src/server-interceptors.js';

/** Room before a message, in bytes. */
export const FRAME_BYTES = 5;

/** On messages that have it. */
const room = Symbol('room for the frame');
type Framable = Buffer & { readonly [room]?: boolean };

/** The message in `bytes`, which begins behind FRAME_BYTES of room that nobody else uses. */
export function messageBehindRoom(bytes: Buffer, end: number): Buffer {
  const message = bytes.subarray(FRAME_BYTES, end);
  // Not enumerable: it is equal to the same bytes without it.
  return Object.defineProperty(message, room, { value: true });
}

/** Writes what stands before a message that is not compressed into its room. Returns the whole frame. */
export function headed(frame: Buffer): Buffer {
  frame[0] = 0;
  frame.writeUInt32BE(frame.length - FRAME_BYTES, 1);
  return frame;
}

interface Serializing {
  serializeMessage(message: unknown): Buffer;
}

const { prototype } = BaseServerInterceptingCall as unknown as { prototype: Serializing };
const copying = prototype.serializeMessage;
if (typeof copying !== 'function') throw new Error('this version of @grpc/grpc-js has no serializeMessage');

prototype.serializeMessage = function (this: Serializing, message: unknown): Buffer {
  if (!Buffer.isBuffer(message) || (message as Framable)[room] !== true) return copying.call(this, message);
  return headed(Buffer.from(message.buffer, message.byteOffset - FRAME_BYTES, message.length + FRAME_BYTES));
};
