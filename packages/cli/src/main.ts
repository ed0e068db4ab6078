#!/usr/bin/env node
import { EXIT } from './terminal/failure.ts';
import { printable } from './terminal/printable.ts';
import { run } from './run.ts';

const interruption = new AbortController();
process.once('SIGINT', () => interruption.abort()).once('SIGTERM', () => interruption.abort());
// A reader such as `head` may close the pipe early; the command then ends silently.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => process.exit(EXIT.done));

try {
  process.exitCode = await run(process.argv.slice(2), {
    env: process.env,
    cwd: process.cwd(),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    signal: interruption.signal,
  });
} catch (error) {
  process.stderr.write(`This is a defect of the command line; report it with what follows.\n${printable((error as Error).stack ?? String(error))}\n`);
  process.exitCode = EXIT.defect;
}
