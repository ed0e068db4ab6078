import { FRAME_BYTES, messageBehindRoom } from '@truckroll/grpc';

/** From this many bytes on, the runtime's copy is faster than a loop. */
const LONG = 48;
/** Four bytes encode lengths up to 256 MiB. Protobuf allows varints that are longer than necessary. */
const LENGTH_BYTES = 4;

/** A growing buffer, written front to back, with space for gRPC's frame reserved at its start. */
export class ByteBuffer {
  bytes: Buffer;
  /** End of the written bytes, including the reserved frame. */
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

  /** Reserves space for the length of what follows; see close(). */
  open(): number {
    this.reserve(LENGTH_BYTES);
    this.length += LENGTH_BYTES;
    return this.length;
  }

  /** Writes the length of everything since open(), as a varint padded to the reserved space. */
  close(start: number): void {
    const size = this.length - start;
    for (let i = 0; i < LENGTH_BYTES; i++) {
      const more = i < LENGTH_BYTES - 1 ? 0x80 : 0;
      this.bytes[start - LENGTH_BYTES + i] = ((size >>> (7 * i)) & 0x7f) | more;
    }
  }

  /** The written bytes. An rpc sends them as its response without copying. */
  view(): Buffer {
    return messageBehindRoom(this.bytes, this.length);
  }
}
