import { copyFileSync, statSync, truncateSync } from 'node:fs';
import { LONGEST_LOG } from '../processes/daemon.ts';
import { read } from '../processes/log-tail.ts';
import type { Say } from '../say.ts';

const POLL_MS = 1000;
const NEWLINE = 10;
/** Minimum interval, in ms, between equal sentences of a process. */
const REPEAT_MS = 30_000;
/** Only lines with one of these in their first 40 bytes are parsed: there are thousands of lower-level lines. */
const LEVELS = ['warn', 'error', 'fatal'].map((level) => Buffer.from(`"level":"${level}"`));

interface Fault {
  readonly message?: string;
  readonly cause?: Fault;
}

interface Entry {
  readonly level: string;
  readonly msg?: string;
  readonly error?: Fault;
  readonly err?: Fault;
}

export class LogWatch {
  readonly #name: string;
  readonly #file: string;
  readonly #say: Say;
  readonly #timer: NodeJS.Timeout;
  readonly #shown = new Map<string, { at: number; missed: number }>();
  #position: number;

  constructor(name: string, file: string, say: Say) {
    this.#name = name;
    this.#file = file;
    this.#say = say;
    this.#position = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    this.#timer = setInterval(() => this.look(), POLL_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.look();
  }

  look(): void {
    const size = statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0;
    if (size < this.#position) this.#position = 0;
    const fresh = read(this.#file, this.#position, size);
    const end = fresh.lastIndexOf(NEWLINE) + 1;
    for (let start = 0; start < end; ) {
      const next = fresh.indexOf(NEWLINE, start) + 1;
      const line = fresh.subarray(start, next - 1);
      start = next;
      const head = line.subarray(0, 40);
      if (LEVELS.some((level) => head.includes(level))) this.#show(line.toString('utf8'));
    }
    this.#position += end;
    if (this.#position > LONGEST_LOG) this.#rotate();
  }

  #show(line: string): void {
    const entry = parse(line);
    if (!entry) return;
    const cause = innermost(entry.error ?? entry.err);
    const sentence = `${this.#name} ${entry.level}: ${entry.msg ?? ''}${cause ? ` (${cause.split('\n')[0]})` : ''}`;
    const before = this.#shown.get(sentence);
    const now = performance.now();
    if (before && now - before.at < REPEAT_MS) {
      before.missed += 1;
      return;
    }
    this.#shown.set(sentence, { at: now, missed: 0 });
    this.#say(before?.missed ? `${sentence} (and ${before.missed} times before)` : sentence);
  }

  /** The writer appends, so it continues at the start of the emptied file. */
  #rotate(): void {
    copyFileSync(this.#file, `${this.#file}.1`);
    truncateSync(this.#file);
    this.#position = 0;
  }
}

/** The message of the innermost cause, which says what is wrong; the outer errors only say where it was noticed. */
function innermost(fault: Fault | undefined): string | undefined {
  let deepest = fault;
  while (deepest?.cause?.message) deepest = deepest.cause;
  return deepest?.message;
}

function parse(line: string): Entry | undefined {
  try {
    return JSON.parse(line) as Entry;
  } catch {
    return undefined;
  }
}
