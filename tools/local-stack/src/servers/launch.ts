import { Problem, fullDisk } from '../problem.ts';
import { Daemon, exitText, type DaemonOptions } from '../processes/daemon.ts';

export interface Launch extends Omit<DaemonOptions, 'order'> {
  /** Printed when the server can be used. */
  readonly ready: RegExp;
  readonly title: string;
  readonly dataFolder: string;
  /** What deleting a damaged data folder does, for the error message: "to begin with an empty database". */
  readonly afterDeletion: string;
}

/** Another process took the port after it was found free. */
export class PortTaken extends Error {
  override readonly name = 'PortTaken';
}

/** Starts a server and waits until it can be used. Throws PortTaken, or a Problem that says what to do. */
export async function launch(options: Launch): Promise<Daemon> {
  const daemon = new Daemon({ ...options, order: 'server' });
  if (await daemon.printed(options.ready)) return daemon;
  const exit = await daemon.exited.catch((error: unknown) => {
    throw new Problem(`${options.title} cannot be started from ${options.command}: ${(error as Error).message}.`);
  });
  const output = daemon.output.text();
  if (/Address already in use|already in use|BindException/i.test(output)) throw new PortTaken(`${options.title} lost its port`);
  const full = fullDisk(output, options.dataFolder);
  if (full) throw full;
  if (exit.signal === 'SIGKILL') {
    throw new Problem(`${options.title} was killed while starting, perhaps because the machine ran out of memory: free some memory and start again.`);
  }
  throw new Problem(
    `${options.title} cannot use its data folder ${options.dataFolder} (${reason(daemon, exitText(exit))}): put back a copy of the ` +
      `folder, or delete it ${options.afterDeletion}; ${options.log} has the details.`,
  );
}

/** The first log line that reports the fault, without time stamps and Java package names. */
function reason(daemon: Daemon, fallback: string): string {
  const lines = daemon.output.lines();
  const line = lines.find((text) => /FATAL|PANIC|ERROR|Exception|# |Bad file format|Fatal/i.test(text)) ?? lines.at(-1) ?? fallback;
  const message = line
    .replace(/^.*?\b(FATAL|PANIC|ERROR)\b:?\s*/, '')
    .replace(/\.$/, '')
    .trim();
  return message.length > 200 ? `${message.slice(0, 200)}…` : message;
}
