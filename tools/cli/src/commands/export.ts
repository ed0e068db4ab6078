import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inOrderOfReference } from '@truckroll/contract';
import type { Command } from 'commander';
import { Failure } from '../failure.ts';
import { explainFolder, makeFolder } from '../export/folder.ts';
import { readApi, type ApiClientOptions } from '../export/http.ts';
import { exportRecords } from '../export/records.ts';
import { suggestion } from '../import/files.ts';
import { createProgress, duration } from '../progress.ts';
import type { Session } from '../session.ts';
import { table } from '../table.ts';

const FIRST_PATIENCE_MS = 1_000;
const FIRST_ANSWER_MS = 10_000;

const HELP = `
Reads everything that the key may read over HTTP and writes one file for each path, invoices.ndjson for /v1/invoices,
and company.json. \`truckroll import\` takes the folder as it is. Records that change meanwhile may be read before or
after their change. Waits where the key's limit is reached, and while the API restarts.

Examples:
  TRUCKROLL_API_KEY_FILE=./key truckroll export ./lone-star
  truckroll export ./books --only invoices payments refunds`;

export function register(program: Command, session: Session): void {
  program
    .command('export')
    .description('Write a company’s records into files.')
    .argument('<folder>', 'where to write; made when it is missing, files of the same name are replaced')
    .option('--key <key>', 'deprecated: set TRUCKROLL_API_KEY, or TRUCKROLL_API_KEY_FILE')
    .option('--url <url>', 'address of the API; TRUCKROLL_URL unless given')
    .option('--only <paths...>', 'only these records, such as invoices')
    .addHelpText('after', HELP)
    .action(async (folder: string, given: { key?: string; url?: string; only?: string[] }) => {
      const startedAt = performance.now();
      const paths = chosen(given.only);
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
      // If nothing answers at first, the address is more likely wrong than the API restarting, so this fails soon. Later requests wait.
      const company = (await readApi('/v1/company', {}, { ...options, patienceMs: FIRST_PATIENCE_MS, longestAnswerMs: FIRST_ANSWER_MS })) as { data: unknown };
      await makeFolder(folder);
      await writeFile(join(folder, 'company.json'), `${JSON.stringify(company.data, null, 2)}\n`).catch(explainFolder);
      const files: { path: string; records: number }[] = [];
      for (const path of paths) {
        const progress = createProgress(session.io, path.padEnd(20), 'records', session.json);
        progressed.clear = progress.clear;
        try {
          const records = await exportRecords(folder, path, options, (count, share) =>
            progress.update(count, share ?? 0, share === undefined ? undefined : 1),
          ).catch(explainFolder);
          files.push({ path, records });
        } finally {
          progress.end();
        }
      }
      report(session, files, (performance.now() - startedAt) / 1000);
    });
}

function chosen(only: string[] | undefined): string[] {
  const known = inOrderOfReference();
  for (const path of only ?? []) {
    if (known.every((resource) => resource.path !== path)) {
      throw new Failure(`There are no records called ${path}. ${suggestion(path, known).replaceAll('.ndjson', '')}`);
    }
  }
  return known.map((resource) => resource.path).filter((path) => only?.includes(path) ?? true);
}

function report(session: Session, files: readonly { path: string; records: number }[], seconds: number): void {
  const records = files.reduce((sum, file) => sum + file.records, 0);
  const rows = [...files, { path: 'together', records }];
  const text = table(rows, { RECORDS: (row) => row.path, COUNT: (row) => row.records }, '');
  const rate = Math.round(records / Math.max(seconds, 0.001)).toLocaleString('en');
  session.print({ files, records, seconds: Math.round(seconds * 1000) / 1000 }, `${text}\n\nExported in ${duration(seconds)}, ${rate} records a second.`);
}
