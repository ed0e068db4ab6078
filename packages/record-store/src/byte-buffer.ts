import { FRAME_BYTES, messageBehindRoom } from '@truckroll/service-kit';

/** From this many bytes on, a copy by the runtime is quicker than one in a loop. */
const LONG = 48;
/** Enough for 256 MiB. Protobuf allows a varint longer than it needs to be. */
const LENGTH_BYTES = 4;

/** Growing bytes, written front to back behind room for gRPC's frame. */
export class ByteBuffer {
  bytes: Buffer;
  /** Up to where something is written, the room included. */
  length = FRAME_BYTES;

  constructor(size = 64 * 1024) {
    this.bytes = Buffer.allocUnsafeSlow(FRAME_BYTES + size);
  }

  reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.length + more));
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
  }

  byte(byte: number): void {
    this.reserve(1);
    this.bytes[this.length++] = byte;
  }

  copy(source: Uint8Array, start: number, end: number): void {
    const size = end - start;
    this.reserve(size);
    const { bytes, length } = this;
    if (size >= LONG) bytes.set(source.subarray(start, end), length);
    else for (let i = 0; i < size; i++) bytes[length + i] = source[start + i] as number;
    this.length = length + size;
  }

  append(bytes: Uint8Array): void {
    this.copy(bytes, 0, bytes.length);
  }

  varint(value: number): void {
    this.reserve(5);
    let rest = value;
    while (rest > 0x7f) {
      this.bytes[this.length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.bytes[this.length++] = rest;
  }

  /** Leaves room for the length of what follows; see close(). */
  open(): number {
    this.reserve(LENGTH_BYTES);
    this.length += LENGTH_BYTES;
    return this.length;
  }

  /** Writes the length of everything since open(), as a varint padded to the room that was left. */
  close(start: number): void {
    const size = this.length - start;
    for (let i = 0; i < LENGTH_BYTES; i++) {
      const more = i < LENGTH_BYTES - 1 ? 0x80 : 0;
      this.bytes[start - LENGTH_BYTES + i] = ((size >>> (7 * i)) & 0x7f) | more;
    }
  }

  /** What has been written. As the answer of an rpc it goes out without being copied. */
  view(): Buffer {
    return messageBehindRoom(this.bytes, this.length);
  }
}
