// Reads a file of lines in pieces: memory use does not depend on the length of the file or of a line.
import { createReadStream } from 'node:fs';

export interface Batch {
  /** Starts at 1. */
  readonly firstLine: number;
  readonly lines: Buffer[];
  /** Bytes of the input up to and including this batch, for the progress bar. */
  readonly readBytes: number;
}

/** Called for a line that is too long to send; the owner judges everything else. */
export type TooLong = (line: number) => void;

const MOST_LINES = 500;
const MOST_BYTES = 512 * 1024;
/** Maximum length of a line in bytes. Its gRPC message must stay well below 4 MiB, the default limit of receivers. */
export const LONGEST_LINE = 3 * 1024 * 1024;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/** Batches of the file's lines, in order. Blank lines are sent empty, so that line numbers in a batch have no gaps. */
export async function* batchesOf(file: string, tooLong: TooLong): AsyncGenerator<Batch> {
  const source = createReadStream(file, { highWaterMark: 256 * 1024 });
  yield* batches(linesIn(source), tooLong);
}

/** A line and the number of bytes read so far; `text` is undefined if the line is too long. */
interface Line {
  readonly text: Buffer | undefined;
  readonly readBytes: number;
}

export async function* batches(lines: AsyncIterable<Line>, tooLong: TooLong): AsyncGenerator<Batch> {
  let number = 0;
  let collected: Buffer[] = [];
  let bytes = 0;
  let readBytes = 0;
  const take = (): Batch => {
    const batch = { firstLine: number - collected.length + 1, lines: collected, readBytes };
    collected = [];
    bytes = 0;
    return batch;
  };
  for await (const line of lines) {
    const length = line.text?.length ?? 0;
    if (collected.length > 0 && (line.text === undefined || collected.length === MOST_LINES || bytes + length > MOST_BYTES)) yield take();
    number += 1;
    readBytes = line.readBytes;
    if (line.text === undefined) tooLong(number);
    else collected.push(line.text);
    bytes += length;
  }
  if (collected.length > 0) yield take();
}

/** Splits chunks into lines. `\r\n` ends a line too, and a byte order mark before the first line is dropped. */
export async function* linesIn(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let readBytes = 0;
  let parts: Buffer[] = [];
  let length = 0;
  let first = true;
  const finish = (): Line => {
    const whole = length > LONGEST_LINE ? undefined : Buffer.concat(parts, length);
    parts = [];
    length = 0;
    const text = first && whole?.subarray(0, 3).equals(BYTE_ORDER_MARK) ? whole.subarray(3) : whole;
    first = false;
    const end = text !== undefined && text.at(-1) === CARRIAGE_RETURN ? text.length - 1 : text?.length;
    return { text: text?.subarray(0, end), readBytes };
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      keep(chunk.subarray(start, end));
      readBytes += end + 1 - start;
      start = end + 1;
      yield finish();
    }
    keep(chunk.subarray(start));
    readBytes += chunk.length - start;
  }
  if (length > 0) yield finish();

  function keep(part: Buffer): void {
    length += part.length;
    if (length <= LONGEST_LINE) parts.push(part);
    else parts = [];
  }
}
