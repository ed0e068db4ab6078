import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createBrotliDecompress, createUnzip } from 'node:zlib';

export interface CappedBody {
  readonly bytes: Buffer;
  readonly truncated: boolean;
}

/** Nobody applies more than one; a list of hundreds would be an attack. */
const MOST_ENCODINGS = 3;

/**
 * Reads a body as far as `limit` bytes after decompression; the rest is cut off, and its stream destroyed. What cannot
 * be decompressed ends the text where it breaks. Rejects where the connection does.
 */
export async function readCapped(body: Readable, contentEncoding: string, limit: number): Promise<CappedBody> {
  const names = contentEncoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  const decoders = names.length > MOST_ENCODINGS ? [] : names.toReversed().map(decoderOf);
  const chunks: Buffer[] = [];
  let room = limit;
  let truncated = false;
  let undecodable = false;
  for (const decoder of decoders) decoder?.once('error', () => (undecodable = true));

  const collect = async (source: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of source) {
      chunks.push(chunk.subarray(0, room));
      truncated = chunk.length > room;
      room -= Math.min(room, chunk.length);
      if (truncated) return;
    }
  };
  try {
    // An encoding that we do not know leaves the body as it came.
    const known = decoders.includes(undefined) ? [] : (decoders as Transform[]);
    if (known.length === 0) await collect(body);
    else await pipeline([body, ...known, collect] as unknown as readonly [Readable, Transform]);
  } catch (error) {
    if (!truncated && !undecodable) throw error;
  }
  return { bytes: Buffer.concat(chunks), truncated: truncated || undecodable };
}

function decoderOf(name: string): Transform | undefined {
  // What a receiver cut short is shown as far as it goes.
  if (['gzip', 'x-gzip', 'deflate'].includes(name)) return createUnzip({ finishFlush: constants.Z_SYNC_FLUSH });
  if (name === 'br') return createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH });
  return undefined;
}
