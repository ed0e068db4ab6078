// Answers of calls, put together out of what the connection delivers in memory that is used again. Memory outside V8's heap
// counts towards the next collection of all of it: with new memory for each page of a list a process that serves them
// marks its whole heap every few hundred requests (docs/adr/0010).
import { FRAME_BYTES } from './grpc-framing.ts';

/** What one piece of memory holds: a page of a list is 40 KB, one of 100 records twice that. */
const ROOM_BYTES = 128 * 1024;
/** Shorter messages are copied into memory that Node shares among them. */
const SMALL_BYTES = 4096;
const MOST_KEPT = 64;

const rooms: ArrayBuffer[] = [];

function take(size: number): Buffer {
  if (size < SMALL_BYTES) return Buffer.allocUnsafe(size);
  if (size > ROOM_BYTES) return Buffer.allocUnsafeSlow(size);
  return Buffer.from(rooms.pop() ?? new ArrayBuffer(ROOM_BYTES), 0, size);
}

/** The memory of an answer that nobody will read any more, nor any part of it. It may be another answer's at once. */
export function giveBack(answer: Buffer): void {
  const { buffer } = answer;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === ROOM_BYTES && rooms.length < MOST_KEPT) rooms.push(buffer);
}

/** Cuts what comes into messages with their frames, as the decoder of grpc-js does that it stands for. */
export class FrameDecoder {
  readonly #most: number;
  #frame: Buffer | undefined;
  /** Of the frame at hand, bytes that are there. */
  #filled = 0;
  readonly #head = Buffer.alloc(FRAME_BYTES);

  constructor(most: number) {
    this.#most = most;
  }

  /** Throws where a message is larger than may be. */
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
