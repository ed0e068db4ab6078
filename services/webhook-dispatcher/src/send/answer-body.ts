import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import { AttemptError } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { ExchangeFailure } from './failure.ts';

export interface CappedBody {
  readonly bytes: Buffer;
  readonly truncated: boolean;
  /** Time spent on decompression, in ms. */
  readonly processorMs: number;
  /** Why the body or its compressed data ended too early. */
  readonly error?: unknown;
}

/**
 * Reads a body to its end and keeps its first `limit` bytes after decompression. Invalid compressed data ends the text where it breaks; a
 * body with more than one content coding is kept undecoded. Never rejects: what arrived before an error is kept.
 */
export async function readCapped(body: Readable, contentEncoding: string, limit: number): Promise<CappedBody> {
  const kept = new Kept(limit);
  const decoder = decoderOf(contentEncoding);
  const decoding = decoder && new Decoding(decoder, kept, limit);
  let failed: { error?: unknown } = {};
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (decoding === undefined) kept.add(chunk);
      else await decoding.add(chunk);
    }
    await decoding?.end();
  } catch (error) {
    failed = { error };
  } finally {
    decoder?.destroy();
  }
  return { bytes: Buffer.concat(kept.chunks), truncated: kept.truncated, processorMs: decoding?.ms ?? 0, ...failed };
}

class Kept {
  readonly chunks: Buffer[] = [];
  truncated = false;
  #room: number;

  constructor(room: number) {
    this.#room = room;
  }

  add(chunk: Buffer): void {
    if (this.#room > 0) this.chunks.push(chunk.subarray(0, this.#room));
    if (chunk.length > this.#room) this.truncated = true;
    this.#room -= Math.min(this.#room, chunk.length);
  }
}

/** Settles when the previous chunk has been decompressed. One chunk at a time, because the measured time would include waiting for a thread. */
let turn: Promise<unknown> = Promise.resolve();

class Decoding {
  readonly #decoder: Transform;
  readonly #kept: Kept;
  readonly #closed: Promise<unknown>;
  /** Compressed bytes that may still be decoded, initially twice the limit: data that shrinks when decompressed is an attack. */
  #left: number;
  #isEmpty = true;
  #error: (Error & { code?: string }) | undefined;
  ms = 0;

  constructor(decoder: Transform, kept: Kept, limit: number) {
    this.#decoder = decoder;
    this.#kept = kept;
    this.#left = 2 * limit;
    this.#closed = new Promise((resolve) => decoder.once('close', resolve));
    decoder.once('error', (error) => (this.#error = error));
    decoder.on('data', (chunk: Buffer) => {
      kept.add(chunk);
      if (kept.truncated) decoder.destroy();
    });
  }

  async add(chunk: Buffer): Promise<void> {
    if (this.#decoder.destroyed) return;
    this.#isEmpty = false;
    const part = chunk.subarray(0, this.#left);
    this.#left -= part.length;
    await this.#timed(() => new Promise((resolve) => this.#decoder.write(part, resolve)));
    if (part.length === chunk.length || this.#decoder.destroyed) return;
    this.#kept.truncated = true;
    this.#decoder.destroy();
  }

  async end(): Promise<void> {
    if (this.#isEmpty) return;
    if (!this.#decoder.destroyed) await this.#timed(() => (this.#decoder.end(), this.#closed));
    if (this.#error?.code === 'Z_BUF_ERROR') throw new ExchangeFailure(AttemptError.EXCHANGE, 'The compressed answer ended before it was complete.');
    if (this.#error !== undefined) this.#kept.truncated = true;
  }

  async #timed(work: () => Promise<unknown>): Promise<void> {
    const before = turn;
    const done = before.then(async () => {
      const since = performance.now();
      await Promise.race([work(), this.#closed]);
      this.ms += performance.now() - since;
    });
    turn = done;
    await done;
  }
}

function decoderOf(contentEncoding: string): Transform | undefined {
  const names = contentEncoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  const [name = ''] = names.length === 1 ? names : [];
  if (['gzip', 'x-gzip', 'deflate'].includes(name)) return createUnzip();
  return name === 'br' ? createBrotliDecompress() : undefined;
}
