import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { changeProfiles } from '../profiles.ts';
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
    .action(async (given: Given) => {
      const asking = asker(session);
      await login(session, given, asking.ask).finally(asking.close);
    });
}

async function login(session: ApiSession, { device, clientId, scope }: Given, ask: Asker['ask']): Promise<void> {
  const url = session.givenUrl ?? baseUrlOf(await ask('Address of the API: ', false));
  const { signal } = session.io;
  const byCode = async (): Promise<string> => {
    const { signInByCode } = await import('../device-code.ts');
    return await signInByCode({ baseUrl: url, clientId, scope, signal, say: (text) => session.note(text) });
  };
  const credential = device === true ? await byCode() : await ask('API key or user token: ', true);
  if (credential === '') throw new Failure('Give an API key or a user token.');
  const { data } = await session.clientOf({ baseUrl: url, credential, source: 'just given' }).me.get({ signal });
  const { profile } = session;
  const file = await changeProfiles(session.io.env, (profiles) => ({ ...profiles, [profile]: { url, credential } }));
  const user = { profile, url, user: data.displayName, company: data.company.name, file };
  session.print(user, `Logged in at ${url} as ${data.displayName} of ${data.company.name}: profile ${profile} in ${file}.`);
}

interface Asker {
  ask(question: string, hides: boolean): Promise<string>;
  close(): void;
}

/** Asks on standard error, because standard output may go into a file. Without a terminal, the lines of standard input are the answers. */
function asker({ io: { stdin, stderr, signal } }: ApiSession): Asker {
  let lines: Interface | undefined;
  let given: AsyncIterator<string> | undefined;
  const close = (): void => lines?.close();

  async function nextLine(): Promise<string> {
    lines ??= createInterface({ input: stdin, signal });
    given ??= lines[Symbol.asyncIterator]();
    return String((await given.next()).value ?? '').trim();
  }

  async function ask(question: string, hides: boolean): Promise<string> {
    const output = new Writable({ write: (chunk: Buffer, _, done) => (hides || stderr.write(chunk.toString()), done()) });
    const editor = (lines = createInterface({ input: stdin, output, terminal: true }));
    // While a line is edited, the terminal sends Ctrl-C as a character. Ctrl-D closes without an answer.
    editor.once('SIGINT', () => process.emit('SIGINT'));
    stderr.write(question);
    const closed = once(editor, 'close').then(() => '');
    const answer = await Promise.race([closed, editor.question('', { signal }).catch(() => '')]);
    close();
    if (hides) stderr.write('\n');
    return answer.trim();
  }

  return { ask: stdin.isTTY === true ? ask : nextLine, close };
}
