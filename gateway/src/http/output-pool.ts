import { JsonBuffer } from '@truckroll/contract';

/** Largest buffer that is kept, in bytes, so that one huge page does not hold its memory for ever. */
const LARGEST_KEPT = 2 * 1024 * 1024;
const MOST_KEPT = 64;

/** Reuses output buffers: allocating 100 KB for every page caused most of the p99 of a single connection. */
export class OutputPool {
  readonly #free: JsonBuffer[] = [];

  take(): JsonBuffer {
    const buffer = this.#free.pop() ?? new JsonBuffer();
    buffer.length = 0;
    return buffer;
  }

  /** Call this only when the operating system has taken all bytes: until then the socket reads from the buffer. */
  giveBack(buffer: JsonBuffer): void {
    if (this.#free.length < MOST_KEPT && buffer.bytes.length <= LARGEST_KEPT) this.#free.push(buffer);
  }
}
