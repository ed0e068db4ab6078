import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { readProfiles, writeProfiles } from '../profiles.ts';
import { baseUrlOf, type ApiSession } from '../session.ts';
import { Failure } from '../terminal/failure.ts';

const HELP = `
Asks for the address of the API, unless --url or TRUCKROLL_URL has it, and for an API key or a user token. Both are read
from standard input, a line each, if that is no terminal. They are kept, once the API has accepted them, in
~/.config/truckroll/profiles.json (or below XDG_CONFIG_HOME), which only you can read. --profile names one of several.

--device needs an issuer that offers sign-in by a code (RFC 8628), where the operator has registered this program. The user token
ends when the issuer says; log in again then.

Examples:
  truckroll login
  truckroll login --device
  truckroll login --profile test --url https://test.example.com < key.txt`;

interface Given {
  readonly device?: true;
  readonly clientId: string;
  readonly scope: string;
}

export function register(program: Command, session: ApiSession): void {
  program
    .command('login')
    .description('Keep the address of an installation and a credential in a profile.')
    .option('--device', 'sign in at the installation’s issuer on another device, by a code')
    .option('--client-id <id>', 'with --device: what the issuer knows this program as', 'truckroll-cli')
    .option('--scope <scope>', 'with --device: what is asked of the issuer', 'openid')
    .addHelpText('after', HELP)
    .action(async ({ device, clientId, scope }: Given) => {
      const ask = asker(session);
      const url = session.givenUrl ?? baseUrlOf(await ask('Address of the API: ', false));
      const { signal } = session.io;
      const byCode = async (): Promise<string> => {
        const { signInByCode } = await import('../device-code.ts');
        return await signInByCode({ baseUrl: url, clientId, scope, signal, say: (text) => session.note(text) });
      };
      const credential = device === true ? await byCode() : await ask('API key or user token: ', true);
      ask.close();
      if (credential === '') throw new Failure('Give an API key or a user token.');
      const { data } = await session.clientOf({ baseUrl: url, credential, source: 'just given' }).me.get({ signal });
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
function asker({ io: { stdin, stderr, signal } }: ApiSession): Asker {
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
