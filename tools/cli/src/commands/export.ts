import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inOrderOfReference } from '@truckroll/contract';
import type { Command } from 'commander';
import { FEED_ONLY, cursorOfNow, exportChanges, exportFromFeed, readCursor, writeCursor } from '../export/feed.ts';
import { explainFolder, makeFolder } from '@truckroll/integrator-cli/copy/folder';
import { readApi, type ApiClientOptions } from '../export/http.ts';
import { exportRecords } from '../export/records.ts';
import { counted, createProgress, duration } from '@truckroll/integrator-cli/terminal/progress';
import type { Session } from '../session.ts';
import { chosenKinds } from '../sync/kinds.ts';
import { table } from '@truckroll/integrator-cli/terminal/table';

const FIRST_RETRY_MS = 1_000;
const FIRST_ANSWER_MS = 10_000;

const HELP = `
Reads everything that the key may read over HTTP and writes one file for each path, invoices.ndjson for /v1/invoices,
and company.json. \`truckroll import\` accepts the folder unchanged, but ignores service requests and interactions, which come
from the change feed. A record that changes during the export may be read before or after its change. The command waits when
the key's limit is reached, and while the API restarts.

The file \`cursor\` marks the moment in the change feed at which the export began. --since takes it, and writes what has
changed since then into changes.ndjson: a line for each changed or deleted record, as the feed returns it, and a new cursor.
A change may appear in two exports. To keep a complete copy up to date, use \`truckroll sync\`.

Examples:
  TRUCKROLL_API_KEY_FILE=./key truckroll export ./lone-star
  truckroll export ./books --only invoices payments refunds
  truckroll export ./lone-star-tuesday --since ./lone-star/cursor`;

interface Given {
  key?: string;
  url?: string;
  only?: string[];
  since?: string;
}

export function register(program: Command, session: Session): void {
  program
    .command('export')
    .description('Write a company’s records into files.')
    .argument('<folder>', 'where to write; created if missing, files with the same names are replaced')
    .option('--key <key>', 'deprecated: set TRUCKROLL_API_KEY, or TRUCKROLL_API_KEY_FILE')
    .option('--url <url>', 'address of the API; default: TRUCKROLL_URL')
    .option('--only <paths...>', 'only these records, such as invoices')
    .option('--since <cursor>', 'only changes since this cursor, or the cursor in this file')
    .addHelpText('after', HELP)
    .action(async (folder: string, given: Given) => {
      const startedAt = performance.now();
      const kinds = chosenKinds(given.only) ?? [];
      const progressed = { clear: () => undefined as void };
      const options: ApiClientOptions = {
        baseUrl: session.baseUrl(given.url),
        apiKey: session.apiKey(given.key),
        signal: session.io.signal,
        onWaiting(reason) {
          progressed.clear();
          session.note(reason);
        },
      };
      const shown: Shown = async (label, work) => {
        const progress = createProgress(session.io, label.padEnd(20), 'records', session.json);
        progressed.clear = progress.clear;
        const onPage = (count: number, share?: number): void => progress.update(count, share ?? 0, share === undefined ? undefined : 1);
        return await work(onPage).catch(explainFolder).finally(progress.end);
      };
      // If nothing answers at first, the address is more likely wrong than the API restarting, so this fails soon. Later requests wait.
      const company = (await readApi('/v1/company', {}, { ...options, maxRetryMs: FIRST_RETRY_MS, longestAnswerMs: FIRST_ANSWER_MS })) as { data: unknown };
      await makeFolder(folder);
      const elapsed = (): number => (performance.now() - startedAt) / 1000;
      if (given.since !== undefined) {
        const since = await readCursor(given.since);
        const { changes, cursor } = await shown('changes', (onPage) => exportChanges(folder, since, kinds, options, onPage));
        await writeCursor(folder, cursor).catch(explainFolder);
        reportChanges(session, changes, cursor, elapsed());
        return;
      }
      const cursor = await cursorOfNow(kinds, options);
      await writeFile(join(folder, 'company.json'), `${JSON.stringify(company.data, null, 2)}\n`).catch(explainFolder);
      const files: ExportedFile[] = [];
      for (const path of chosenPaths(kinds)) {
        const exported = FEED_ONLY.includes(path) ? exportFromFeed : exportRecords;
        files.push({ path, records: await shown(path, (onPage) => exported(folder, path, options, onPage)) });
      }
      // Last, so that an interrupted export leaves none.
      const file = await writeCursor(folder, cursor).catch(explainFolder);
      report(session, files, file, elapsed());
    });
}

type Shown = <T>(label: string, work: (onPage: (count: number, share?: number) => void) => Promise<T>) => Promise<T>;

interface ExportedFile {
  readonly path: string;
  readonly records: number;
}

function chosenPaths(kinds: readonly string[]): string[] {
  return [...inOrderOfReference().map((resource) => resource.path), ...FEED_ONLY].filter((path) => kinds.length === 0 || kinds.includes(path));
}

function reportChanges(session: Session, changes: number, cursor: string, seconds: number): void {
  const text = `${counted(changes, 'change')} exported in ${duration(seconds)}. Cursor, for the next --since:\n${cursor}`;
  session.print({ changes, cursor, seconds: Math.round(seconds * 1000) / 1000 }, text);
}

function report(session: Session, files: readonly ExportedFile[], cursorFile: string, seconds: number): void {
  const records = files.reduce((sum, file) => sum + file.records, 0);
  const rows = [...files, { path: 'together', records }];
  const text = table(rows, { RECORDS: (row) => row.path, COUNT: (row) => row.records }, '');
  const rate = Math.round(records / Math.max(seconds, 0.001)).toLocaleString('en');
  session.print(
    { files, records, cursor_file: cursorFile, seconds: Math.round(seconds * 1000) / 1000 },
    `${text}\n\nExported in ${duration(seconds)}, ${rate} records a second. Later changes: truckroll export <folder> --since ${cursorFile}`,
  );
}
