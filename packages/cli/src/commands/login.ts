import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { readProfiles, writeProfiles } from '../profiles.ts';
import { baseUrlOf, type Session } from '../session.ts';
import { Failure } from '../terminal/failure.ts';

const HELP = `
Asks for the address of the API, unless --url or TRUCKROLL_URL has it, and for an API key or a user token. Both are read
from standard input, a line each, if that is no terminal. They are kept, once the API has accepted them, in
~/.config/truckroll/profiles.json (or below XDG_CONFIG_HOME), which only you can read. --profile names one of several.

Examples:
  truckroll login
  truckroll login --profile test --url https://test.example.com < key.txt`;

export function register(program: Command, session: Session): void {
  program
    .command('login')
    .description('Keep the address of an installation and a credential in a profile.')
    .addHelpText('after', HELP)
    .action(async () => {
      const ask = asker(session);
      const url = session.givenUrl ?? baseUrlOf(await ask('Address of the API: ', false));
      const credential = await ask('API key or user token: ', true);
      ask.close();
      if (credential === '') throw new Failure('Give an API key or a user token.');
      const { data } = await session.clientOf({ baseUrl: url, credential, source: 'just given' }).me.get({ signal: session.io.signal });
      const { profile } = session;
      const file = writeProfiles(session.io.env, { ...readProfiles(session.io.env), [profile]: { url, credential } });
      const user = { profile, url, user: data.displayName, company: data.company.name, file };
      session.print(user, `Logged in at ${url} as ${data.displayName} of ${data.company.name}: profile ${profile} in ${file}.`);
    });
}

interface Asker {
  (question: string, hidden: boolean): Promise<string>;
  close(): void;
}

/** Asks on standard error, because standard output may go into a file. */
function asker({ io: { stdin, stderr, signal } }: Session): Asker {
  const terminal = stdin.isTTY === true;
  const output = new Writable({ write: (chunk: Buffer, _, done) => (hides || stderr.write(chunk.toString()), done()) });
  let hides = !terminal;
  const lines = createInterface({ input: stdin, output, terminal });
  const given = terminal ? undefined : lines[Symbol.asyncIterator]();
  async function ask(question: string, hidden: boolean): Promise<string> {
    if (given !== undefined) return String((await given.next()).value ?? '').trim();
    stderr.write(question);
    hides = hidden;
    const answer = await lines.question('', { signal });
    if (hidden) stderr.write('\n');
    return answer.trim();
  }
  return Object.assign(ask, { close: () => lines.close() });
}
