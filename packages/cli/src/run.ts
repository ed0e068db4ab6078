// Runs the command line. A command is a file in commands/, an entry in command-list.ts, so that help can show it without loading it, and an
// import here.
import { readFileSync } from 'node:fs';
import { Command, CommanderError, Help } from 'commander';
import { COMMANDS } from './command-list.ts';
import type { ApiSession } from './session.ts';
import { EXIT, Failure } from './terminal/failure.ts';
import type { InputIo } from './terminal/io.ts';
import { printable } from './terminal/printable.ts';

interface CommandModule {
  register(program: Command, session: ApiSession, words: readonly string[]): void;
}

/** Imports by literal names, which the bundler follows. */
const MODULES: Readonly<Record<string, () => Promise<CommandModule>>> = {
  list: () => import('./commands/list.ts'),
  get: () => import('./commands/get.ts'),
  search: () => import('./commands/search.ts'),
  report: () => import('./commands/report.ts'),
  listen: () => import('./commands/listen.ts'),
  requests: () => import('./commands/requests.ts'),
  sync: () => import('./commands/sync.ts'),
  export: () => import('./commands/export.ts'),
  webhooks: () => import('./commands/webhooks.ts'),
  mcp: () => import('./commands/mcp.ts'),
  login: () => import('./commands/login.ts'),
  logout: () => import('./commands/logout.ts'),
  profiles: () => import('./commands/profiles.ts'),
  completion: () => import('./commands/completion.ts'),
};

const AFTER_HELP = `
Where the API is and who asks: what \`truckroll login\` keeps, or TRUCKROLL_URL and TRUCKROLL_API_KEY (or
TRUCKROLL_API_KEY_FILE, a file that holds it). Endpoints are changed with a user token, in TRUCKROLL_TOKEN or a profile.

Exit codes: 0 done   1 refused   2 wrong usage   3 the API does not answer   70 a defect of this program   130 interrupted
With --json an error is one line of JSON on standard error: {"error":{"message":…,"exit_code":…}}.

Examples:
  truckroll list invoices --status OPEN --due-before 2026-03-01
  truckroll search ortiz --kind accounts
  truckroll report receivables --group-by account --csv > receivables.csv`;

/** Runs the command and resolves to the exit code. Rejects only for a defect. */
export async function run(args: readonly string[], io: InputIo): Promise<number> {
  // Needed before the arguments are parsed, because wrong arguments are reported in this form too.
  const json = args.includes('--json');
  let usage = '';
  const program = createProgram(io, (text) => {
    if (json) usage += text;
    else io.stderr.write(printable(text));
  });
  let session: ApiSession | undefined;
  try {
    const completes = args[0] === 'complete' && args[1] === '--';
    const words = wordsOf(completes ? args.slice(2, -1) : args);
    const name = words[0];
    if (name !== undefined && Object.hasOwn(MODULES, name)) session = await load(name, program, io, words);
    for (const [each, { description }] of Object.entries(COMMANDS)) if (each !== name) program.command(each).description(description);
    if (completes) return await complete(program, args.slice(2), io);
    await program.parseAsync(args, { from: 'user' });
    return session?.exitCode ?? EXIT.done;
  } catch (error) {
    const reason = await explained(error, io, usage, session);
    if (reason.message !== '') io.stderr.write(failureText(reason, json));
    return reason.exitCode;
  }
}

interface Explained {
  readonly message: string;
  readonly exitCode: number;
}

export function failureText({ message, exitCode }: Explained, json: boolean): string {
  return json ? `${JSON.stringify({ error: { message: message.trim(), exit_code: exitCode } })}\n` : printable(`${message}\n`);
}

/** Prints what may stand in place of the last word, for the scripts of shells. */
async function complete(program: Command, words: readonly string[], { stdout }: InputIo): Promise<number> {
  const { candidates } = await import('./completion.ts');
  for (const word of candidates(program, words)) stdout.write(`${word}\n`);
  return EXIT.done;
}

/** Options that may stand before the command and take a value. */
const VALUED = ['--url', '--profile'];

function wordsOf(args: readonly string[]): string[] {
  const words = args.filter((arg, index) => !arg.startsWith('-') && !VALUED.includes(args[index - 1] ?? ''));
  return words[0] === 'help' ? words.slice(1) : words;
}

async function load(name: string, program: Command, io: InputIo, words: readonly string[]): Promise<ApiSession> {
  const [{ ApiSession }, module] = await Promise.all([import('./session.ts'), (MODULES[name] as () => Promise<CommandModule>)()]);
  const session = new ApiSession(io);
  program.hook('preAction', (_, action) => session.choose(action.optsWithGlobals()));
  module.register(program, session, words);
  return session;
}

function createProgram({ stdout }: InputIo, writeErr: (text: string) => void): Command {
  return new Command('truckroll')
    .description("Read a company's records and reports from the Truckroll API, and manage its webhooks.")
    .version(
      (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }).version,
      '--version',
      'print the version of the command line',
    )
    .option('--url <url>', 'address of the API; default: TRUCKROLL_URL')
    .option('--profile <name>', 'profile of `truckroll login`; default: the variables below, else `default`')
    .option('--json', 'print JSON, a record a line')
    .option('--csv', 'print CSV')
    .configureHelp({
      showGlobalOptions: true,
      subcommandTerm: (command) => (command.parent?.parent == null ? COMMANDS[command.name()]?.usage : undefined) ?? new Help().subcommandTerm(command),
    })
    .configureOutput({ writeOut: (text) => void stdout.write(text), writeErr })
    .showHelpAfterError('Add --help for what the command takes.')
    .exitOverride()
    .addHelpText('after', AFTER_HELP);
}

async function explained(error: unknown, io: InputIo, usage: string, session: ApiSession | undefined): Promise<Explained> {
  // Commander has already written its message or the help, unless it was collected for a script.
  if (error instanceof CommanderError) return { message: usage, exitCode: error.exitCode === 0 ? EXIT.done : EXIT.usage };
  if (io.signal.aborted) {
    // The reason has been said already.
    if (io.signal.reason instanceof Failure) return { message: '', exitCode: io.signal.reason.exitCode };
    return { message: '\nInterrupted. What was done stays done; running the same command again is safe.', exitCode: EXIT.interrupted };
  }
  const reason = error instanceof Failure || session === undefined ? error : (await import('./problems.ts')).explain(error, () => session.asked);
  if (!(reason instanceof Failure)) throw reason;
  return { message: reason.message, exitCode: reason.exitCode };
}
