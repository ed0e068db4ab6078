// Unpacks a gzip file up to its first damage.
import { createReadStream } from 'node:fs';
import { createGunzip, type Gunzip } from 'node:zlib';
import { Failure } from '@truckroll/integrator-cli/terminal/failure';

/** Bytes of the file that are unpacked at once. They become at most 16 MiB, because deflate packs at most 1032 bytes into one. */
const STEP = 16 * 1024;
/** Unpacked size up to which a gzip file may have any content, in bytes. */
const UNPACKED_AT_LEAST = 4 * 1024 * 1024;
/** Maximum size of the content beyond that, as a multiple of the compressed size. Records are compressed about ten times. */
const MOST_TIMES_PACKED = 200;

/**
 * Yields everything before the damage, then throws zlib's error. zlib returns nothing of a step that fails, so after an error the file is
 * unpacked again, and the step with the damage byte by byte.
 */
export async function* unpacked(file: string): AsyncGenerator<Buffer> {
  let [packedBytes, bytes] = [0, 0];
  try {
    for await (const step of stepsOf(file, () => STEP)) {
      packedBytes = step.packedBytes;
      bytes += step.content.length;
      if (bytes > UNPACKED_AT_LEAST && bytes > packedBytes * MOST_TIMES_PACKED)
        throw new Failure(`it unpacks to more than ${MOST_TIMES_PACKED} times its size, as no export does. If it is right, unpack it and import the result.`);
      yield step.content;
    }
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).code?.startsWith('Z_')) throw error;
    let before = 0;
    for await (const { content } of stepsOf(file, (from) => (from < packedBytes ? STEP : 1))) {
      before += content.length;
      if (before > bytes) yield content.subarray(Math.max(0, content.length - (before - bytes)));
    }
  }
}

interface Step {
  /** Bytes of the file up to and including this step. */
  readonly packedBytes: number;
  readonly content: Buffer;
}

/** `sizeAt` gives the size of the step that begins after this number of bytes. */
async function* stepsOf(file: string, sizeAt: (from: number) => number): AsyncGenerator<Step> {
  const gunzip = createGunzip();
  let content: Buffer[] = [];
  gunzip.on('data', (part: Buffer) => content.push(part));
  let packedBytes = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: 16 * STEP }) as AsyncIterable<Buffer>) {
    for (let start = 0; start < chunk.length; ) {
      const piece = chunk.subarray(start, start + sizeAt(packedBytes));
      await settled(gunzip, (done) => gunzip.write(piece, done));
      start += piece.length;
      packedBytes += piece.length;
      yield { packedBytes, content: Buffer.concat(content) };
      content = [];
      // Zeros follow: programs that write in blocks pad the last one.
      if (gunzip.readableEnded) return;
    }
  }
  await settled(gunzip, () => gunzip.end());
  if (content.length > 0) yield { packedBytes, content: Buffer.concat(content) };
}

/** Resolves when the step is done, or the content has ended; rejects if it is damaged. */
function settled(gunzip: Gunzip, begin: (done: () => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      gunzip.off('error', reject).off('end', done);
      resolve();
    };
    gunzip.once('error', reject).once('end', done);
    begin(done);
  });
}
