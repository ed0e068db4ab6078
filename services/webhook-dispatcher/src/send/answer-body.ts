import type { Transform } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import { AttemptError } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { ExchangeFailure } from './failure.ts';

export interface ReadBody {
  readonly bytes: Buffer;
  readonly truncated: boolean;
  /** Time spent on decompression, in ms. */
  readonly processorMs: number;
  /** Why the compressed data ended too early. */
  readonly failure?: ExchangeFailure;
}

/**
 * The body of an answer: its first `limit` bytes, after decompression. Invalid compressed data ends the text where it breaks; a body with
 * more than one content coding is kept undecoded.
 */
export class AnswerBody {
  readonly #limit: number;
  readonly #createDecoder: (() => Transform) | undefined;
  readonly #received: Bytes;

  constructor(contentEncoding: string, limit: number) {
    this.#limit = limit;
    this.#createDecoder = decoderOf(contentEncoding);
    // More compressed bytes than twice the text that they may give are an attack: the rest is not decoded.
    this.#received = new Bytes(this.#createDecoder === undefined ? limit : 2 * limit);
  }

  add(chunk: Buffer): void {
    this.#received.add(chunk);
  }

  /** What is kept of the received bytes. `ended`: whether they are the whole body. Never rejects. */
  async read(ended: boolean): Promise<ReadBody> {
    const { all: bytes, truncated } = this.#received;
    if (this.#createDecoder === undefined || bytes.length === 0) return { bytes, truncated, processorMs: 0 };
    const decoder = this.#createDecoder();
    const read = await oneAtATime(() => decode(decoder, bytes, ended && !truncated, this.#limit));
    return { ...read, truncated: read.truncated || truncated };
  }
}

/** The first bytes of several chunks. */
class Bytes {
  readonly #chunks: Buffer[] = [];
  #room: number;
  truncated = false;

  constructor(room: number) {
    this.#room = room;
  }

  get all(): Buffer {
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
  }

  add(chunk: Buffer): void {
    if (chunk.length > this.#room) this.truncated = true;
    if (this.#room > 0) this.#chunks.push(chunk.subarray(0, this.#room));
    this.#room -= Math.min(this.#room, chunk.length);
  }
}

/** Settles when the previous body has been decompressed. */
let turn: Promise<unknown> = Promise.resolve();

/** Decompresses one body at a time, because the measured time would include waiting for a thread. */
function oneAtATime<T>(work: () => Promise<T>): Promise<T> {
  const done = turn.then(work);
  turn = done;
  return done;
}

async function decode(decoder: Transform, bytes: Buffer, whole: boolean, limit: number): Promise<ReadBody> {
  const since = performance.now();
  const text = new Bytes(limit);
  let error: (Error & { code?: string }) | undefined;
  await new Promise<void>((resolve) => {
    decoder.once('close', resolve);
    decoder.once('error', (found) => (error = found));
    decoder.on('data', (chunk: Buffer) => {
      text.add(chunk);
      if (text.truncated) decoder.destroy();
    });
    // Without the end, the decoder gives what it has and does not say that more must come.
    if (whole) decoder.end(bytes);
    else decoder.write(bytes, () => decoder.destroy());
  });
  const isShort = error?.code === 'Z_BUF_ERROR';
  return {
    bytes: text.all,
    truncated: text.truncated || (error !== undefined && !isShort),
    processorMs: performance.now() - since,
    ...(isShort && { failure: new ExchangeFailure(AttemptError.EXCHANGE, 'The compressed answer ended before it was complete.') }),
  };
}

function decoderOf(contentEncoding: string): (() => Transform) | undefined {
  const names = contentEncoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  const [name = ''] = names.length === 1 ? names : [];
  if (['gzip', 'x-gzip', 'deflate'].includes(name)) return createUnzip;
  return name === 'br' ? createBrotliDecompress : undefined;
}
