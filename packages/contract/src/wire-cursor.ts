const DELIMITED = 2;

/** Walks the fields of an encoded message. */
export class WireCursor {
  readonly bytes: Uint8Array;
  readonly #stop: number;
  /** Number of the field at hand; 0 at the end. */
  field = 0;
  /** Where its tag begins, its content begins, and it ends. */
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

  /** To the next field. */
  advance(): void {
    this.start = this.end;
    if (this.start >= this.#stop) {
      this.field = 0;
      return;
    }
    this.body = this.start;
    const tag = this.#varint();
    this.field = tag >>> 3;
    switch (tag & 7) {
      case 0:
        this.end = this.body;
        while ((this.bytes[this.end++] as number) >= 0x80);
        break;
      case 1:
        this.end = this.body + 8;
        break;
      case DELIMITED:
        this.end = this.#varint() + this.body;
        break;
      case 5:
        this.end = this.body + 4;
        break;
      default:
        throw new Error(`field ${this.field} of a stored document has wire type ${tag & 7}`);
    }
  }

  /** Past every occurrence of the field at hand. */
  skipField(): void {
    const { field } = this;
    while (this.field === field) this.advance();
  }

  #varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.bytes[this.body++] as number;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }
}
