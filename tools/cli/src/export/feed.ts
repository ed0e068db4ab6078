// What an export takes from the change feed: changes since a cursor, and the kinds that have no list.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { changeKinds, resources } from '@truckroll/contract';
import { Failure } from '@truckroll/integrator-cli/terminal/failure';
import { writeWhole } from '@truckroll/integrator-cli/copy/folder';
import { readApi, type ApiClientOptions, type ExportQuery } from './http.ts';

interface Page {
  data: { id: string; record: object | null }[];
  nextCursor: string;
  hasMore: boolean;
}

const FEED = '/api/v1/integrations/changes';
const CURSOR_FILE = 'cursor';
const CHANGES_FILE = 'changes.ndjson';

/** Kinds that only the feed has: `company.json` is written from its own path. */
export const FEED_ONLY = changeKinds.map(({ kind }) => kind).filter((kind) => kind !== 'company' && !resources.some(({ path }) => path === kind));

/** The cursor of what changes from now on. `kinds` is empty for all. */
export async function cursorOfNow(kinds: readonly string[], options: ApiClientOptions): Promise<string> {
  return ((await readApi(FEED, { kinds, cursor: 'now' }, options)) as Page).nextCursor;
}

export async function writeCursor(folder: string, cursor: string): Promise<string> {
  const file = join(folder, CURSOR_FILE);
  await writeFile(file, `${cursor}\n`);
  return file;
}

/** A cursor, or what a file of this name holds. Throws Failure if there is such a file and it cannot be read. */
export async function readCursor(cursorOrFile: string): Promise<string> {
  return await readFile(cursorOrFile, 'utf8').then(
    (text) => text.trim(),
    ({ code }: NodeJS.ErrnoException) => {
      if (code !== 'EISDIR' && code !== 'EACCES') return cursorOrFile;
      throw new Failure(`${cursorOrFile} cannot be read (${code}): give the file \`${CURSOR_FILE}\` of an export, or a cursor.`);
    },
  );
}

/** Writes every change since the cursor as one line of `changes.ndjson`. Throws Failure or the file system's errors. */
export async function exportChanges(
  folder: string,
  since: string,
  kinds: readonly string[],
  options: ApiClientOptions,
  onPage: (count: number) => void,
): Promise<{ changes: number; cursor: string }> {
  let [changes, cursor] = [0, since];
  await writeWhole(join(folder, CHANGES_FILE), async function* () {
    for await (const { data, nextCursor } of pages({ kinds, cursor: since }, options)) {
      onPage((changes += data.length));
      cursor = nextCursor;
      if (data.length > 0) yield data.map((change) => `${JSON.stringify(change)}\n`).join('');
    }
  });
  return { changes, cursor };
}

/** Writes the records of a kind that has no list. Returns their number. They are few enough to be kept until all have been read. */
export async function exportFromFeed(folder: string, kind: string, options: ApiClientOptions, onPage: (count: number) => void): Promise<number> {
  const lines = new Map<string, string>();
  for await (const { data } of pages({ kinds: [kind] }, options)) {
    for (const { id, record } of data) {
      if (record === null) lines.delete(id);
      else lines.set(id, `${JSON.stringify(record)}\n`);
    }
    onPage(lines.size);
  }
  await writeWhole(join(folder, `${kind}.ndjson`), async function* () {
    yield* lines.values();
  });
  return lines.size;
}

async function* pages(query: ExportQuery, options: ApiClientOptions): AsyncGenerator<Page> {
  for (let cursor: string | undefined; ; ) {
    const page = (await readApi(FEED, { limit: '1000', ...query, ...(cursor !== undefined && { cursor }) }, options)) as Page;
    yield page;
    cursor = page.nextCursor;
    if (!page.hasMore) return;
  }
}
