// One run of the command line. Every file in commands/ is one command; adding one is adding a file.
import { readdirSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { EXIT, Failure } from './failure.ts';
import { printable } from './printable.ts';
import { Session, type Io } from './session.ts';

/** What a file in commands/ exports. */
export interface CommandModule {
  register(program: Command, session: Session): void;
}

const AFTER_HELP = `
Where things are:
  The commands find a local installation by its .truckroll folder, which \`npm start\` writes, here or in a folder above.
  Elsewhere set INTEGRATIONS_ADDRESS, BILLING_ADDRESS, SCHEDULING_ADDRESS and REPORTING_ADDRESS (host:port) for the
  services with CALL_CREDENTIAL or CALL_CREDENTIAL_FILE, the operator's credential by which they know you, and
  TRUCKROLL_URL and TRUCKROLL_API_KEY for what is read over HTTP.

Exit codes:
  0 done   1 a record or line was refused   2 wrong usage   3 something does not answer
  70 a defect of the command line   130 interrupted

Examples:
  truckroll company create --name "Lone Star Comfort" --timezone America/Chicago
  truckroll key create --company <id> --user <id> --name "Bookkeeping export"
  truckroll import ./lone-star --company <id>`;

/** Runs the command of these arguments; resolves to the exit code. Rejects only where the code is wrong. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const session = new Session(io);
  try {
    const program = await createProgram(session);
    await program.parseAsync(args, { from: 'user' });
    return session.exitCode;
  } catch (error) {
    return explain(error, session);
  } finally {
    session.close();
  }
}

async function createProgram(session: Session): Promise<Command> {
  const { stdout, stderr } = session.io;
  const program = new Command('truckroll')
    .description('Operate a Truckroll installation: companies, users, API keys, and the way of data in and out.')
    .option('--json', 'print JSON for scripts')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: (text) => void stdout.write(text), writeErr: (text) => void stderr.write(printable(text)) })
    .showHelpAfterError('Add --help for what the command takes.')
    .exitOverride()
    .addHelpText('after', AFTER_HELP)
    .hook('preAction', (_, action) => void (session.json = action.optsWithGlobals()['json'] === true));
  for (const file of readdirSync(new URL('./commands/', import.meta.url)).sort()) {
    const module = (await import(new URL(`./commands/${file}`, import.meta.url).href)) as CommandModule;
    module.register(program, session);
  }
  return program;
}

function explain(error: unknown, session: Session): number {
  // Commander has written its message or the help already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  if (session.io.signal.aborted) {
    session.note('\nInterrupted. What was done stays done; running the same command again is safe.');
    return EXIT.interrupted;
  }
  if (!(error instanceof Failure)) throw error;
  session.note(error.message);
  return error.exitCode;
}
