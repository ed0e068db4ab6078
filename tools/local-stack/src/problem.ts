/** A fault that the person at the keyboard can mend: its message is one sentence that says what to do. */
export class Problem extends Error {
  override readonly name = 'Problem';
}

/** The sentence for "no space left on device"; undefined when the error says something else. */
export function fullDisk(error: unknown, path: string): Problem | undefined {
  const text = error instanceof Error ? `${(error as NodeJS.ErrnoException).code ?? ''} ${error.message}` : String(error);
  if (!/ENOSPC|EDQUOT|No space left on device|Disk quota exceeded/i.test(text)) return undefined;
  return new Problem(`The disk that holds ${path} is full: free some space there and start again.`);
}

/** What to print for any error: a Problem's sentence alone, everything else with its stack. */
export function describe(error: unknown): string {
  if (error instanceof Problem) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Runs a program's main function and ends the process with the code that it resolves to, 1 after an error. */
export async function runMain(main: () => Promise<number>): Promise<void> {
  let code: number;
  // A terminal or pipe that is gone must not end the process before what it has started has been stopped.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  try {
    code = await main();
  } catch (error) {
    process.stderr.write(`${describe(fullDisk(error, '.truckroll') ?? error)}\n`);
    code = 1;
  }
  process.exit(code);
}
