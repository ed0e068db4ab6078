// Sends a message that has room in front without copying it.
//
// Fault: grpc-js copies each message to make room for the five bytes in front of it, a flag and the length.
// Upstream: grpc/grpc-node#2652 (pull request, closed without a merge).
// Ends: with a version of grpc-js that sends header and message without a copy.
import { BaseServerInterceptingCall } from '@grpc/grpc-js/build/src/server-interceptors.js';

export const FRAME_BYTES = 5;

const room = Symbol('room for the frame');
type Framable = Buffer & { readonly [room]?: boolean };

/** The message in `bytes` up to `end`, after FRAME_BYTES of reserved room. */
export function messageBehindRoom(bytes: Buffer, end: number): Buffer {
  const message = bytes.subarray(FRAME_BYTES, end);
  // Not enumerable, so that the message still equals the same bytes without the mark.
  return Object.defineProperty(message, room, { value: true });
}

/** Fills in the header of an uncompressed message. Returns the whole frame. */
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
