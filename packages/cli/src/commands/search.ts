import { InvalidArgumentError, Option, type Command } from 'commander';
import { COLUMNS } from '../columns.ts';
import { KINDS } from '../gen/catalog.ts';
import { valueAt, type JsonRecord } from '../output.ts';
import type { ApiSession } from '../session.ts';
import { Failure } from '../terminal/failure.ts';
import { PAGE, hasMore } from './list.ts';
import { positiveInteger } from '../terminal/arguments.ts';
import { table } from '../terminal/table.ts';

const SEARCHED = Object.entries(KINDS).filter(([, { options }]) => options?.some(({ name }) => name === 'search'));
/** Requests at once: a company may have few slots. */
const AT_ONCE = 4;

interface Given {
  readonly kind?: string[];
  readonly limit: number;
}

interface Found {
  readonly kind: string;
  readonly record: JsonRecord;
}

export function register(program: Command, session: ApiSession): void {
  program
    .command('search')
    .description('Search records of every kind that can be searched.')
    .argument('<words...>', 'beginnings of words, or a telephone number; a record has all of them')
    .addOption(new Option('--kind <kinds...>', 'only these kinds').choices(SEARCHED.map(([name]) => name)))
    .option('--limit <number>', `most records of each kind, at most ${PAGE}`, most, 5)
    .action(async (words: string[], { kind, limit }: Given) => {
      if (session.csv) throw new Failure('search prints a table or JSON: for CSV use list KIND --search.');
      session.arguments = { search: '<words>' };
      const left = SEARCHED.filter(([name]) => kind?.includes(name) !== false);
      const found = new Map<string, readonly JsonRecord[]>();
      const more = new Set<string>();
      const client = session.client();
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          for (let next = left.shift(); next !== undefined; next = left.shift()) {
            const [name, { list }] = next;
            const { data, pagination } = await client.get(list as '/v1/invoices', { query: { search: words.join(' '), limit }, signal: session.io.signal });
            found.set(name, data);
            if (hasMore(pagination)) more.add(name);
          }
        }),
      );
      const rows = SEARCHED.flatMap(([name]) => (found.get(name) ?? []).map((record): Found => ({ kind: name, record })));
      if (session.json) for (const row of rows) session.say(JSON.stringify(row));
      else session.say(table(rows, { kind: (row) => row.kind, id: ({ record }) => record['id'], what: described }, 'Nothing was found.'));
      const cut = SEARCHED.flatMap(([name]) => (more.has(name) ? [name] : []));
      if (cut.length > 0) session.note(`There may be more ${cut.join(', ')}: give a higher --limit, or use \`truckroll list KIND --search\`.`);
    });
}

/** The first values of the kind's columns. */
function described({ kind, record }: Found): string {
  const values = (COLUMNS[kind] ?? []).map((path) => valueAt(record, path));
  return values
    .filter((value) => typeof value === 'string')
    .slice(0, 4)
    .join(' · ');
}

function most(text: string): number {
  const limit = positiveInteger(text);
  if (limit > PAGE) throw new InvalidArgumentError(`Give a whole number from 1 to ${PAGE}.`);
  return limit;
}
