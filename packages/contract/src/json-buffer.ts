/**
 * ASCII text in a form that is copied eight bytes at a time: as doubles, which JavaScript moves without looking at them.
 * Only a NaN may come out with other bits, and the eight bytes of one hold a byte above 0xef before the last.
 */
export interface Text {
  /** Little-endian; the last one is filled up with zeros. */
  readonly words: Float64Array;
  readonly length: number;
}

/** Text that holds only ASCII and is JSON already. */
export function textOf(ascii: string): Text {
  const bytes = Buffer.alloc(Math.ceil(ascii.length / 8) * 8);
  bytes.write(ascii, 'latin1');
  return { words: Float64Array.from({ length: bytes.length / 8 }, (_, index) => bytes.readDoubleLE(index * 8)), length: ascii.length };
}

/** A growing piece of JSON text. Reused between requests: see OutputPool in the gateway. */
export class JsonBuffer {
  bytes: Buffer;
  /** The same bytes. */
  data: DataView;
  length = 0;

  constructor(size = 64 * 1024) {
    this.bytes = Buffer.allocUnsafeSlow(size);
    this.data = new DataView(this.bytes.buffer);
  }

  /** Makes room for so many more bytes. */
  reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.length + more));
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
    this.data = new DataView(grown.buffer);
  }

  /** Appends text that holds only ASCII and is JSON already. */
  ascii(text: string): void {
    this.reserve(text.length);
    this.length += this.bytes.write(text, this.length, 'latin1');
  }

  /** What has been written; valid until the buffer is written again. */
  view(): Buffer {
    return this.bytes.subarray(0, this.length);
  }
}
