// Reads a file of lines in pieces: memory use does not depend on the length of the file or of a line.
import { createReadStream } from 'node:fs';
import { LARGEST_MESSAGE } from '@truckroll/grpc';
import { Failure } from '@truckroll/integrator-cli/terminal/failure';
import type { InputFile } from './files.ts';
import { unpacked } from './unpack.ts';

export interface Batch {
  /** Starts at 1. */
  readonly firstLine: number;
  readonly lines: Buffer[];
  /** Bytes of the input up to and including this batch, for the progress bar. */
  readonly readBytes: number;
}

/** Called for a line that cannot be sent; the owner judges everything else. */
export type Unsendable = (line: number, code: 'TOO_LARGE' | 'UNREADABLE', message: string) => void;

const MOST_LINES = 500;
const MOST_BYTES = 512 * 1024;
/** Maximum length of a line in bytes: it must fit into one message to its owner, next to the company's id and the path. */
export const LONGEST_LINE = LARGEST_MESSAGE - 1024;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/** Batches of the file's lines, in order. Blank lines are sent empty, so that line numbers in a batch have no gaps. */
export async function* batchesOf({ file, gzip }: InputFile, unsendable: Unsendable): AsyncGenerator<Batch> {
  const content = gzip ? unpacked(file) : createReadStream(file, { highWaterMark: 256 * 1024 });
  yield* batches(linesIn(content), unsendable);
}

/** A line and the number of bytes read so far; `text` is undefined if the line is too long. */
interface Line {
  readonly text: Buffer | undefined;
  readonly readBytes: number;
}

/** Ends early, after what could be read, if reading fails. */
export async function* batches(lines: AsyncIterable<Line>, unsendable: Unsendable): AsyncGenerator<Batch> {
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
  try {
    for await (const line of lines) {
      const length = line.text?.length ?? 0;
      if (collected.length > 0 && (line.text === undefined || collected.length === MOST_LINES || bytes + length > MOST_BYTES)) yield take();
      number += 1;
      readBytes = line.readBytes;
      if (line.text === undefined)
        unsendable(number, 'TOO_LARGE', `The line is longer than ${LONGEST_LINE} bytes, the most that its owner receives: shorten the record.`);
      else collected.push(line.text);
      bytes += length;
    }
  } catch (error) {
    unsendable(number + 1, 'UNREADABLE', `The file cannot be read from here on: ${reasonOf(error)}`);
  }
  if (collected.length > 0) yield take();
}

function reasonOf(error: unknown): string {
  if (error instanceof Failure) return error.message;
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (code === 'Z_BUF_ERROR') return 'the gzip file ends early. Copy it again, and repeat the import.';
  if (code.startsWith('Z_')) return `the gzip file is damaged (${message}). Copy it again, and repeat the import.`;
  return `${message}. Repeat the import when that is fixed.`;
}

/** Splits chunks into lines. `\r\n` ends a line too. A byte order mark before a line is dropped: concatenated files have them in the middle. */
export async function* linesIn(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let readBytes = 0;
  let parts: Buffer[] = [];
  let length = 0;
  const finish = (): Line => {
    const whole = length > LONGEST_LINE ? undefined : Buffer.concat(parts, length);
    parts = [];
    length = 0;
    const text = whole?.subarray(0, 3).equals(BYTE_ORDER_MARK) ? whole.subarray(3) : whole;
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
