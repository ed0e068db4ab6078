// Assembles answers of calls in reused memory.
//
// Fault: grpc-js assembles each answer in new memory. Memory outside V8's heap counts towards its next full collection: a process that
// serves lists marks its whole heap every few hundred requests (docs/adr/0010).
// Upstream: no upstream issue known.
// Ends: with a version of grpc-js that lets the caller choose where messages are assembled.
import { FRAME_BYTES } from './framing.ts';

/** Size of a reusable buffer: a typical page of a list is 40 KB, one of 100 records twice that. */
const ROOM_BYTES = 128 * 1024;
/** Shorter messages are allocated from Node's shared pool. */
const SMALL_BYTES = 4096;
const MOST_KEPT = 64;

const rooms: ArrayBuffer[] = [];

function take(size: number): Buffer {
  if (size < SMALL_BYTES) return Buffer.allocUnsafe(size);
  if (size > ROOM_BYTES) return Buffer.allocUnsafeSlow(size);
  return Buffer.from(rooms.pop() ?? new ArrayBuffer(ROOM_BYTES), 0, size);
}

/** Recycles the memory of an answer, which may be overwritten at once: no reference to any part of it may remain in use. */
export function giveBack(answer: Buffer): void {
  const { buffer } = answer;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === ROOM_BYTES && rooms.length < MOST_KEPT) rooms.push(buffer);
}

export class FrameDecoder {
  readonly #most: number;
  #frame: Buffer | undefined;
  #filled = 0;
  readonly #head = Buffer.alloc(FRAME_BYTES);

  constructor(most: number) {
    this.#most = most;
  }

  /** Throws if a message exceeds the maximum size. */
  write(data: Buffer): Buffer[] {
    const frames: Buffer[] = [];
    for (let at = 0; at < data.length; ) {
      const target = this.#frame ?? this.#head;
      const count = Math.min(target.length - this.#filled, data.length - at);
      data.copy(target, this.#filled, at, at + count);
      this.#filled += count;
      at += count;
      if (this.#filled < target.length) break;
      if (this.#frame === undefined) this.#begin();
      if (this.#frame?.length !== this.#filled) continue;
      frames.push(this.#frame);
      this.#frame = undefined;
      this.#filled = 0;
    }
    return frames;
  }

  #begin(): void {
    const size = this.#head.readUInt32BE(1);
    if (size > this.#most) throw new Error(`Received message larger than max (${size} vs ${this.#most})`);
    this.#frame = take(FRAME_BYTES + size);
    this.#head.copy(this.#frame);
  }
}
