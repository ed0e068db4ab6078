/** An error that the user can fix: its message is one sentence that says what to do. */
export class Problem extends Error {
  override readonly name = 'Problem';
}

/** A Problem for "no space left on device"; undefined for any other error. */
export function fullDisk(error: unknown, path: string): Problem | undefined {
  const text = error instanceof Error ? `${(error as NodeJS.ErrnoException).code ?? ''} ${error.message}` : String(error);
  if (!/ENOSPC|EDQUOT|No space left on device|Disk quota exceeded/i.test(text)) return undefined;
  return new Problem(`The disk that holds ${path} is full: free some space there and start again.`);
}

/** Text to print for an error: a Problem's sentence alone, and so for unknown options; any other error with its stack. */
export function describe(error: unknown): string {
  if (error instanceof Problem) return error.message;
  if (error instanceof TypeError && String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS_')) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Runs a program's main function and exits with the code it resolves to, or 1 after an error. */
export async function runMain(main: () => Promise<number>): Promise<void> {
  let code: number;
  // A closed terminal or pipe must not end the process before it has stopped what it started.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  try {
    code = await main();
  } catch (error) {
    process.stderr.write(`${describe(fullDisk(error, '.truckroll') ?? error)}\n`);
    code = 1;
  }
  process.exit(code);
}
