import type { Command } from 'commander';
import { readProfiles } from '../profiles.ts';
import type { ApiSession } from '../session.ts';
import { table } from '../terminal/table.ts';

export function register(program: Command, session: ApiSession): void {
  program
    .command('profiles')
    .description('List the profiles that were logged in.')
    .action(() => {
      const rows = Object.entries(readProfiles(session.io.env)).map(([profile, { url, credential }]) => ({
        profile,
        url,
        credential: credential.startsWith('trk_') ? 'API key' : 'user token',
      }));
      const text = table(rows, { profile: (row) => row.profile, url: (row) => row.url, credential: (row) => row.credential }, 'There are none.');
      session.print(rows, text);
    });
}
