import { setImmediate } from 'node:timers/promises';
import { Option, type Command } from 'commander';
import type { ListedKind } from '../catalog.ts';
import { COLUMNS } from '../columns.ts';
import { addFilters, queryOf, type FilterQuery } from '../filters.ts';
import { KINDS } from '../gen/catalog.ts';
import { addOutput, printerOf, type JsonRecord, type Shown } from '../output.ts';
import type { ApiSession } from '../session.ts';
import { positiveInteger } from '../terminal/arguments.ts';

/** Most records of a page. */
export const PAGE = 100;

interface Given extends Shown {
  readonly limit: number;
  readonly all?: boolean;
}

export function register(program: Command, session: ApiSession, [, asked]: readonly string[]): void {
  const list = program.command('list').description('List records of a kind.').showSuggestionAfterError();
  for (const [name, kind] of Object.entries(KINDS)) {
    if (kind.list === undefined) continue;
    const command = list.command(name).description(`${kind.about}.`);
    // Options of one kind are enough, and there are hundreds.
    if (name === asked) completeList(command, session, name, kind);
  }
}

/** Makes the command list the kind. */
export function completeList(command: Command, session: ApiSession, name: string, kind: ListedKind): void {
  const { options = [], fields } = kind;
  addFilters(command, options);
  addOutput(command)
    .addOption(new Option('--limit <number>', 'most records to print').argParser(positiveInteger).default(50).conflicts('all'))
    .option('--all', 'print every record')
    .action(async ({ limit, all, ...given }: Given) => {
      const most = all === true ? Infinity : limit;
      const printer = printerOf(
        session,
        given,
        ['id', ...(COLUMNS[name] ?? [])].filter((field) => fields.includes(field)),
        fields,
        'There are none.',
      );
      const more = await readPages(session, kind, queryOf(options, { ...given }), most, printer.page);
      printer.end();
      // By then a reader that has closed the pipe is noticed, and needs no note.
      await setImmediate();
      if (more && !session.io.signal.aborted) session.note(`These are the first ${most}. For more: --limit ${most * 4}, or --all.`);
    });
}

/** Whether another page follows. */
export function hasMore(
  pagination: { readonly next_cursor?: string | null | undefined; readonly nextCursor?: string | null | undefined } | undefined,
): boolean {
  return (pagination?.next_cursor ?? pagination?.nextCursor) != null;
}

/** Resolves to whether there are more than `most`. */
async function readPages(
  session: ApiSession,
  { list = '', paged = false }: ListedKind,
  query: FilterQuery,
  most: number,
  onPage: (rows: readonly JsonRecord[]) => void,
): Promise<boolean> {
  const client = session.client();
  let left = most;
  const pages = client.pages(list as '/v1/invoices', {
    query: { ...query, ...(paged && { limit: Math.min(PAGE, left) }) },
    signal: session.io.signal,
  });
  for await (const { data, pagination } of pages) {
    onPage((data as unknown as JsonRecord[]).slice(0, left));
    left -= data.length;
    if (left <= 0) return left < 0 || hasMore(pagination);
  }
  return false;
}
