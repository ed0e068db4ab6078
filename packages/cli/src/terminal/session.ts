import { EXIT } from './failure.ts';
import type { Io } from './io.ts';
import { printable } from './printable.ts';

/** One run of a command line: how it answers. */
export abstract class TerminalSession<I extends Io = Io> {
  readonly io: I;
  exitCode: number = EXIT.done;
  /** Whether answers are JSON, for scripts. */
  abstract readonly json: boolean;

  constructor(io: I) {
    this.io = io;
  }

  print(value: unknown, text: string): void {
    this.say(this.json ? JSON.stringify(value) : text);
  }

  say(text: string): void {
    this.io.stdout.write(`${printable(text)}\n`);
  }

  note(text: string): void {
    this.io.stderr.write(`${printable(text)}\n`);
  }
}
