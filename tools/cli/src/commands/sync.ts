import { keepCopy } from '@truckroll/integrator-cli/copy/sync';
import type { Command } from 'commander';
import type { Session } from '../session.ts';
import { chosenKinds } from '../sync/kinds.ts';

const HELP = `
Writes every record that the key may read into the table \`records\` (kind, id, version, changed_at, load, record as JSON),
from the change feed. Run it again to bring the copy up to date: it continues where it ended, even after it was killed. After
a restore of the database it loads every record again and deletes lost ones. Other programs may read the file at any time.

--verify compares the copy with the digests of the API. The exit code is 1 if they differ.
--follow stores every change until Ctrl-C, and waits while the API is unavailable.

Examples:
  TRUCKROLL_API_KEY_FILE=./key truckroll sync copy.db --verify
  truckroll sync books.db --only invoices payments --follow
  sqlite3 copy.db "select record ->> 'number' from records where kind = 'invoices'"`;

interface Given {
  key?: string;
  url?: string;
  only?: string[];
  follow?: boolean;
  verify?: boolean;
}

export function register(program: Command, session: Session): void {
  program
    .command('sync')
    .description('Keep a copy of a company in a SQLite file.')
    .argument('<file>', 'the copy; created if missing')
    .option('--key <key>', 'deprecated: set TRUCKROLL_API_KEY, or TRUCKROLL_API_KEY_FILE')
    .option('--url <url>', 'address of the API; default: TRUCKROLL_URL')
    .option('--only <kinds...>', 'only these kinds of record, such as invoices')
    .option('--verify', 'compare the copy with the digests of the API')
    .option('--follow', 'keep following changes until Ctrl-C')
    .addHelpText('after', HELP)
    .action(async (file: string, { key, url, only, follow, verify }: Given) => {
      const kinds = chosenKinds(only);
      await keepCopy(session, { file, baseUrl: session.baseUrl(url), apiKey: session.apiKey(key), kinds, follow, verify });
    });
}
