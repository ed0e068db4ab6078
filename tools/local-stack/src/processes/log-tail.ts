import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Log files of other processes are polled: watching them costs more and is unreliable on some file systems. */
const POLL_MS = 25;
const KEPT_BYTES = 1 << 20;

/** Reads what is appended to a log file after this object was created. */
export class LogTail {
  readonly #file: string;
  readonly #from: number;

  constructor(file: string) {
    this.#file = file;
    this.#from = sizeOf(file);
  }

  text(): string {
    const end = sizeOf(this.#file);
    return read(this.#file, Math.max(Math.min(this.#from, end), end - KEPT_BYTES), end).toString('utf8');
  }

  lines(): string[] {
    return this.text()
      .split('\n')
      .filter((line) => line.trim() !== '');
  }

  async changed(): Promise<void> {
    await delay(POLL_MS);
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** The bytes from `start` to `end`; fewer when the file was truncated after its size was read. */
export function read(file: string, start: number, end: number): Buffer {
  const buffer = Buffer.alloc(Math.max(0, end - start));
  if (buffer.length === 0) return buffer;
  const handle = openSync(file, 'r');
  try {
    return buffer.subarray(0, readSync(handle, buffer, 0, buffer.length, start));
  } finally {
    closeSync(handle);
  }
}
