import { COMMANDS } from '../../tools/cli/src/command-list.ts';
import { withMarked } from './marked.ts';

/** The page with the commands of `truckroll`. Throws when the page has no marks. */
export function withCommands(page: string): string {
  const rows = Object.values(COMMANDS).map(({ usage, description }) => `| \`${usage.replace('|', '`, `')}\` | ${description} |`);
  return withMarked(page, 'commands', ['| Command | What it does |', '|---|---|', ...rows].join('\n'));
}
