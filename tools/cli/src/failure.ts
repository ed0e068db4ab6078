// Why a command stops, in one sentence that says what to do, and the exit code that goes with it.

/** What scripts may rely on. */
export const EXIT = {
  done: 0,
  /** A record or a line was refused; what was not refused is done. */
  refused: 1,
  /** The command itself is not right. */
  usage: 2,
  /** Something that the command needs does not answer. */
  unreachable: 3,
  defect: 70,
  interrupted: 130,
} as const;

export class Failure extends Error {
  override readonly name = 'Failure';
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT.usage, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.exitCode = exitCode;
  }
}
