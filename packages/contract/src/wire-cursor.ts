const VARINT = 0;
const FIXED64 = 1;
const DELIMITED = 2;
const FIXED32 = 5;

/**
 * Iterates over the fields of an encoded message for callers that need positions instead of values. JsonWriter has its own loop,
 * which is most of a read's CPU time.
 */
export class WireCursor {
  readonly bytes: Uint8Array;
  readonly #stop: number;
  /** Number of the current field; 0 at the end. */
  field = 0;
  type = 0;
  /** Positions where the current field's tag begins, its content begins, and it ends. */
  start: number;
  body = 0;
  end: number;

  constructor(bytes: Uint8Array, start = 0, stop = bytes.length) {
    this.bytes = bytes;
    this.#stop = stop;
    this.start = start;
    this.end = start;
    this.advance();
  }

  get delimited(): boolean {
    return this.type === DELIMITED;
  }

  advance(): void {
    this.start = this.end;
    if (this.start >= this.#stop) {
      this.field = 0;
      return;
    }
    this.body = this.start;
    const tag = this.#varint();
    this.field = tag >>> 3;
    this.type = tag & 7;
    switch (this.type) {
      case VARINT:
        this.end = this.body;
        while ((this.bytes[this.end++] as number) >= 0x80);
        break;
      case FIXED64:
        this.end = this.body + 8;
        break;
      case DELIMITED:
        this.end = this.#varint() + this.body;
        break;
      case FIXED32:
        this.end = this.body + 4;
        break;
      default:
        throw new Error(`field ${this.field} of a message has wire type ${this.type}, which proto3 does not write`);
    }
  }

  skipField(): void {
    const { field } = this;
    while (this.field === field) this.advance();
  }

  #varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.bytes[this.body++];
      if (byte === undefined) throw new Error('a message ends too early');
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }
}
