/** ASCII text stored as doubles, to copy eight bytes at a time. No eight ASCII bytes form a NaN, whose bits JavaScript may change. */
export interface Text {
  /** Little-endian; the last one is padded with zeros. */
  readonly words: Float64Array;
  readonly length: number;
}

/** The text must be valid JSON and contain only ASCII. */
export function textOf(ascii: string): Text {
  const bytes = Buffer.alloc(Math.ceil(ascii.length / 8) * 8);
  bytes.write(ascii, 'latin1');
  return { words: Float64Array.from({ length: bytes.length / 8 }, (_, index) => bytes.readDoubleLE(index * 8)), length: ascii.length };
}

/** A growing piece of JSON text. Reused between requests: see OutputPool in the gateway. */
export class JsonBuffer {
  bytes: Buffer;
  data: DataView;
  length = 0;

  constructor(size = 64 * 1024) {
    this.bytes = Buffer.allocUnsafeSlow(size);
    this.data = new DataView(this.bytes.buffer);
  }

  reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.length + more));
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
    this.data = new DataView(grown.buffer);
  }

  ascii(text: string): void {
    this.reserve(text.length);
    this.length += this.bytes.write(text, this.length, 'latin1');
  }

  /** The bytes written so far; valid until the next write. */
  view(): Buffer {
    return this.bytes.subarray(0, this.length);
  }
}
