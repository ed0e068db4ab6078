#!/usr/bin/env node
import { EXIT, Failure } from './terminal/failure.ts';
import { printable } from './terminal/printable.ts';
import { failureText, run } from './run.ts';

const args = process.argv.slice(2);
const interruption = new AbortController();
process.once('SIGINT', () => interruption.abort()).once('SIGTERM', () => interruption.abort());
for (const stream of [process.stdout, process.stderr]) stream.on('error', outputFailed);

/** Ends the command, which removes what it began. A reader such as `head` may close the pipe early: that is no failure. */
function outputFailed(error: NodeJS.ErrnoException): void {
  if (interruption.signal.aborted) return;
  const left = error.code === 'EPIPE';
  const reason = left
    ? new Failure('', EXIT.done)
    : new Failure(
        `The output cannot be written (${error.code ?? error.message}): correct where it goes, or free some space, and run the command again.`,
        EXIT.unreachable,
        error,
      );
  interruption.abort(reason);
  if (left) return;
  process.stderr.write(failureText(reason, args.includes('--json')));
  // The command may have ended before.
  process.exitCode = reason.exitCode;
}

try {
  const exitCode = await run(args, {
    env: process.env,
    cwd: process.cwd(),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    signal: interruption.signal,
  });
  const reason: unknown = interruption.signal.reason;
  process.exitCode = reason instanceof Failure ? reason.exitCode : exitCode;
} catch (error) {
  process.stderr.write(`This is a defect of the command line; report it with what follows.\n${printable((error as Error).stack ?? String(error))}\n`);
  process.exitCode = EXIT.defect;
}
