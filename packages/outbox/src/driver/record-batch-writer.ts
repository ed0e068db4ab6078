// Fault: the encoder of kafkajs copies each record several times (see kafkajs-produce.ts).
// Upstream: no upstream issue known.
// Ends: with kafkajs itself, whose last stable release is 2.2.4 (docs/adr/0016).
//
// Writes Kafka's record batches of version 2 front to back into one buffer.
//
// RecordBatch: first offset int64, length int32, leader epoch int32, magic int8, CRC-32C of the rest uint32, attributes int16, last offset
// delta int32, first and last timestamp int64, producer id int64, epoch int16, first sequence int32, count of records int32, records.
// Record: length, attributes int8, timestamp delta, offset delta, key, value, count of headers, headers of key and value. Lengths and
// numbers without a type are zigzag varints; a length of -1 means null.
import type { Message } from 'kafkajs';
import { crc32c } from './crc32c.ts';

export interface Sequence {
  readonly producerId: bigint;
  readonly producerEpoch: number;
  readonly firstSequence: number;
}

const MAGIC = 2;
/** Sizes of a batch's header in bytes: before the CRC, the CRC, and from there to the records. */
const HEAD = { beforeCrc: 17, crc: 4, afterCrc: 40 };
const SHORT = 63;
const MOST_BYTES_OF_NUMBER = 5;
/** Bytes reserved for a record's length before the record is written: right for records of 64 bytes to 8 KiB. */
const USUAL_LENGTH_BYTES = 2;

/** Whether RecordWriter can write a message: it has no timestamp, and each header has a single value. */
export function isPlain({ key, value, headers = {}, timestamp }: Message): boolean {
  if (timestamp != null || !isField(key) || !isField(value)) return false;
  for (const name in headers) if (!isField(headers[name])) return false;
  return true;
}

const isField = (value: unknown): boolean => value == null || typeof value === 'string' || Buffer.isBuffer(value);

export class RecordWriter {
  bytes: Buffer;
  length = 0;

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafe(size);
  }

  int16(value: number): void {
    this.#reserve(2);
    this.length = this.bytes.writeInt16BE(value, this.length);
  }

  int32(value: number): void {
    this.#reserve(4);
    this.length = this.bytes.writeInt32BE(value, this.length);
  }

  text16(text: string | null): void {
    const size = text === null ? -1 : Buffer.byteLength(text);
    this.int16(size);
    if (text === null) return;
    this.#reserve(size);
    this.length += this.bytes.write(text, this.length);
  }

  /** Writes one partition's messages as a batch, after the batch's length. `now` is their timestamp in ms since 1970. */
  batch(messages: readonly Message[], { producerId, producerEpoch, firstSequence }: Sequence, now: number): void {
    const start = this.length + 4;
    this.#reserve(4 + HEAD.beforeCrc + HEAD.crc + HEAD.afterCrc);
    const checked = start + HEAD.beforeCrc + HEAD.crc;
    this.length = checked + HEAD.afterCrc;
    messages.forEach((message, index) => this.#record(message, index));
    const { bytes, length } = this;
    bytes.writeInt32BE(length - start, start - 4);
    bytes.writeBigInt64BE(0n, start);
    bytes.writeInt32BE(length - start - 12, start + 8);
    bytes.writeInt32BE(0, start + 12);
    bytes.writeInt8(MAGIC, start + 16);
    bytes.writeInt16BE(0, checked);
    bytes.writeInt32BE(messages.length - 1, checked + 2);
    bytes.writeBigInt64BE(BigInt(now), checked + 6);
    bytes.writeBigInt64BE(BigInt(now), checked + 14);
    bytes.writeBigInt64BE(producerId, checked + 22);
    bytes.writeInt16BE(producerEpoch, checked + 30);
    bytes.writeInt32BE(firstSequence, checked + 32);
    bytes.writeInt32BE(messages.length, checked + 36);
    bytes.writeUInt32BE(crc32c(bytes.subarray(checked, length)), start + HEAD.beforeCrc);
  }

  #record({ key, value, headers = {} }: Message, offset: number): void {
    const start = this.length;
    this.length = start + USUAL_LENGTH_BYTES;
    // Attributes and timestamp delta, a byte each.
    this.int16(0);
    this.#number(offset);
    this.#field(key);
    this.#field(value);
    const names = Object.keys(headers);
    this.#number(names.length);
    for (const name of names) {
      this.#field(name);
      this.#field(headers[name] as string | Buffer | undefined);
    }
    const body = start + USUAL_LENGTH_BYTES;
    const size = this.length - body;
    const moved = sizeOfNumber(size) - USUAL_LENGTH_BYTES;
    if (moved !== 0) {
      this.#reserve(MOST_BYTES_OF_NUMBER);
      this.bytes.copyWithin(body + moved, body, this.length);
    }
    this.length = start;
    this.#number(size);
    this.length += size;
  }

  #field(value: string | Buffer | null | undefined): void {
    if (typeof value === 'string') return this.#text(value);
    if (value == null) return this.#number(-1);
    this.#number(value.length);
    this.#reserve(value.length);
    this.bytes.set(value, this.length);
    this.length += value.length;
  }

  #text(text: string): void {
    const { length } = text;
    if (length <= SHORT) {
      this.#reserve(1 + length);
      const { bytes } = this;
      const start = this.length + 1;
      let i = 0;
      for (; i < length; i += 1) {
        const code = text.charCodeAt(i);
        if (code > 0x7f) break;
        bytes[start + i] = code;
      }
      if (i === length) {
        bytes[start - 1] = length << 1;
        this.length = start + length;
        return;
      }
    }
    const size = Buffer.byteLength(text);
    this.#number(size);
    this.#reserve(size);
    this.length += this.bytes.write(text, this.length);
  }

  #number(value: number): void {
    this.#reserve(MOST_BYTES_OF_NUMBER);
    let rest = zigzag(value);
    for (; rest > 0x7f; rest >>>= 7) this.bytes[this.length++] = (rest & 0x7f) | 0x80;
    this.bytes[this.length++] = rest;
  }

  #reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(2 * this.bytes.length, this.length + more));
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
  }
}

const zigzag = (value: number): number => ((value << 1) ^ (value >> 31)) >>> 0;

function sizeOfNumber(value: number): number {
  let size = 1;
  for (let rest = zigzag(value); rest > 0x7f; rest >>>= 7) size += 1;
  return size;
}
