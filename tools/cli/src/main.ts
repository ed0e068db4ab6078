import { EXIT } from '@truckroll/integrator-cli/terminal/failure';
import { printable } from '@truckroll/integrator-cli/terminal/printable';
import { run } from './run.ts';

const interruption = new AbortController();
process.once('SIGINT', () => interruption.abort()).once('SIGTERM', () => interruption.abort());
// A reader such as `head` may close the pipe early; the command then ends silently.
process.stdout.on('error', () => process.exit(0));

try {
  process.exitCode = await run(process.argv.slice(2), {
    env: process.env,
    cwd: process.cwd(),
    stdout: process.stdout,
    stderr: process.stderr,
    signal: interruption.signal,
  });
} catch (error) {
  process.stderr.write(`This is a defect of the command line; report it with what follows.\n${printable((error as Error).stack ?? String(error))}\n`);
  process.exitCode = EXIT.defect;
}
