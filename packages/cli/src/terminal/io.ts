export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean };
  /** Aborted when the user interrupts. */
  readonly signal: AbortSignal;
}

/** The streams of a program that asks questions. */
export interface InputIo extends Io {
  readonly stdin: NodeJS.ReadStream;
}
