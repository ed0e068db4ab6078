/** Exit codes that scripts may rely on. */
export const EXIT = {
  done: 0,
  /** A record or line was rejected; the others are done. */
  refused: 1,
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
