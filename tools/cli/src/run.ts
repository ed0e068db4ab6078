// Runs the command line. A command is a file in commands/ and an entry in command-list.ts, so that help can show it without loading it.
import { readFileSync, readdirSync } from 'node:fs';
import { addressVariable, owners } from '@truckroll/contract/components';
import { Command, CommanderError, Help } from 'commander';
import { COMMANDS, FORMER_NAMES } from './command-list.ts';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import type { Io } from '@truckroll/integrator-cli/terminal/io';
import { printable } from '@truckroll/integrator-cli/terminal/printable';
import type { Session } from './session.ts';

export interface CommandModule {
  register(program: Command, session: Session): void;
}

const AFTER_HELP = `
Where things are:
  The commands find a local installation by its .truckroll folder, which \`npm start\` writes, here or in a folder above.
  Elsewhere set ${owners.map(addressVariable).join(', ')} (host:port)
  for the services with CALL_CREDENTIAL or CALL_CREDENTIAL_FILE, the operator's credential by which they know you, and
  TRUCKROLL_URL and TRUCKROLL_API_KEY for what is read over HTTP.

Exit codes:
  0 done   1 a record or line was refused   2 wrong usage   3 something does not answer, or fails
  70 a defect of the command line   130 interrupted
  With --json an error is one line of JSON on standard error: {"error":{"message":…,"exit_code":…}}.

Examples:
  truckroll company create --name "Lone Star Comfort" --timezone America/Chicago
  truckroll key create --company <id> --user <id> --name "Bookkeeping export"
  truckroll import ./lone-star --company <id>`;

/** Runs the command and resolves to the exit code. Rejects only for a bug. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  // Needed before the arguments are parsed, because wrong arguments are reported in this form too.
  const json = args.includes('--json');
  let usage = '';
  const program = createProgram(io, (text) => {
    if (json) usage += text;
    else io.stderr.write(printable(text));
  });
  let session: Session | undefined;
  try {
    const name = commandOf(args);
    if (name !== undefined) session = await load(name, program, io);
    addOthers(program, name);
    await program.parseAsync(args, { from: 'user' });
    return session?.exitCode ?? EXIT.done;
  } catch (error) {
    const reason = explained(error, io, usage);
    if (reason.message !== '')
      io.stderr.write(
        json ? `${JSON.stringify({ error: { message: reason.message.trim(), exit_code: reason.exitCode } })}\n` : printable(`${reason.message}\n`),
      );
    return reason.exitCode;
  } finally {
    session?.close();
  }
}

function commandOf(args: readonly string[]): string | undefined {
  const words = args.filter((arg) => !arg.startsWith('-'));
  const word = words[0] === 'help' ? words[1] : words[0];
  const name = word === undefined || !Object.hasOwn(FORMER_NAMES, word) ? word : FORMER_NAMES[word];
  return name !== undefined && Object.hasOwn(COMMANDS, name) ? name : undefined;
}

async function load(name: string, program: Command, io: Io): Promise<Session> {
  const folder = new URL('./commands/', import.meta.url);
  const file = readdirSync(folder).find((each) => each.startsWith(`${name}.`)) as string;
  const [{ Session }, module] = await Promise.all([import('./session.ts'), import(new URL(file, folder).href) as Promise<CommandModule>]);
  const session = new Session(io);
  program.hook('preAction', (_, action) => void (session.json = action.optsWithGlobals()['json'] === true));
  module.register(program, session);
  return session;
}

function addOthers(program: Command, name: string | undefined): void {
  for (const [each, { description }] of Object.entries(COMMANDS)) {
    if (each !== name) program.command(each).description(description);
  }
}

function createProgram({ stdout }: Io, writeErr: (text: string) => void): Command {
  return new Command('truckroll')
    .description(
      'Operate a Truckroll installation: companies, users, API keys, and the way of data in and out. It runs where the services can be reached; integrators use the command line that the gateway serves at /clients.',
    )
    .version(
      (JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { version: string }).version,
      '--version',
      'print the version of the command line',
    )
    .option('--json', 'print JSON for scripts')
    .configureHelp({
      showGlobalOptions: true,
      subcommandTerm: (command) => (command.parent?.parent == null ? COMMANDS[command.name()]?.usage : undefined) ?? termOf(command),
    })
    .configureOutput({ writeOut: (text) => void stdout.write(text), writeErr })
    .showHelpAfterError('Add --help for what the command takes.')
    .exitOverride()
    .addHelpText('after', AFTER_HELP);
}

const termOf = (command: Command): string => new Help().subcommandTerm(command);

function explained(error: unknown, io: Io, usage: string): { message: string; exitCode: number } {
  // Commander has already written its message or the help, unless it was collected for a script.
  if (error instanceof CommanderError) return { message: usage, exitCode: error.exitCode === 0 ? EXIT.done : EXIT.usage };
  if (io.signal.aborted && !(error instanceof Failure && error.exitCode === EXIT.interrupted)) {
    return { message: '\nInterrupted. What was done stays done; running the same command again is safe.', exitCode: EXIT.interrupted };
  }
  if (!(error instanceof Failure)) throw error;
  return { message: error.message, exitCode: error.exitCode };
}
