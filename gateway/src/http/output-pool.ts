import { JsonBuffer } from '@truckroll/contract';

/** Larger ones are left to the garbage collector, so that one huge page does not hold its memory for ever. Bytes. */
const LARGEST_KEPT = 2 * 1024 * 1024;
const MOST_KEPT = 64;

/** Output buffers in reuse: pages of 100 KB made anew for every answer cost most of a single connection's p99. */
export class OutputPool {
  readonly #free: JsonBuffer[] = [];

  take(): JsonBuffer {
    const buffer = this.#free.pop() ?? new JsonBuffer();
    buffer.length = 0;
    return buffer;
  }

  /** Only when the operating system has all of its bytes: until then the socket reads from it. */
  giveBack(buffer: JsonBuffer): void {
    if (this.#free.length < MOST_KEPT && buffer.bytes.length <= LARGEST_KEPT) this.#free.push(buffer);
  }
}
