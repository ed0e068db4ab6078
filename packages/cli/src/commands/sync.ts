import type { ChangeKind } from '@truckroll/client';
import { Option, type Command } from 'commander';
import { keepCopy } from '../copy/sync.ts';
import { CHANGE_KINDS } from '../gen/catalog.ts';
import type { ApiSession } from '../session.ts';

const HELP = `
Writes every record that the credential may read into the table \`records\` (kind, id, version, changed_at, load, record as
JSON), from the change feed. Run it again to bring the copy up to date: it continues where it ended, even after it was
killed. Other programs may read the file at any time. It needs Node 22.13 or newer.

--verify compares the copy with the digests of the API. The exit code is 1 if they differ.
--follow stores every change until Ctrl-C, and waits while the API is unavailable.

Examples:
  truckroll sync copy.db --verify
  sqlite3 copy.db "select record ->> 'number' from records where kind = 'invoices'"`;

interface Given {
  readonly only?: ChangeKind[];
  readonly follow?: boolean;
  readonly verify?: boolean;
}

export function register(program: Command, session: ApiSession): void {
  program
    .command('sync')
    .description('Keep a copy of the company in a SQLite file.')
    .argument('<file>', 'the copy; created if missing')
    .addOption(new Option('--only <kinds...>', 'only these kinds of record').choices(CHANGE_KINDS))
    .option('--verify', 'compare the copy with the digests of the API')
    .option('--follow', 'keep following changes until Ctrl-C')
    .addHelpText('after', HELP)
    .action(async (file: string, { only, follow, verify }: Given) => {
      const { baseUrl, credential } = session.access();
      await keepCopy(session, { file, baseUrl, apiKey: credential, kinds: only, follow, verify });
    });
}
