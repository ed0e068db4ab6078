import { join } from 'node:path';
import { Option, type Command } from 'commander';
import type { ListedKind } from '../catalog.ts';
import { explainFolder, makeFolder, writeWhole } from '../copy/folder.ts';
import { KINDS } from '../gen/catalog.ts';
import { amountsOption, csvLines, type JsonRecord, type Shown } from '../output.ts';
import type { ApiSession } from '../session.ts';
import { counted, createProgress } from '../terminal/progress.ts';
import { table } from '../terminal/table.ts';

const HELP = `
Writes a file for each kind, such as invoices.ndjson with a record a line as the API returns it, or invoices.csv with
--csv. A file has its name once it is complete. A record that changes during the export may be read before or after its
change. To keep a copy up to date, use \`truckroll sync\`.

Examples:
  truckroll export ./books --only invoices payments refunds
  truckroll export ./sheets --csv`;

/** Lists of records. Settings such as keys and endpoints are none. */
const EXPORTED = Object.entries(KINDS).filter(([name, { list }]) => list?.startsWith('/v1/') || ['service-requests', 'interactions'].includes(name));

interface Given extends Shown {
  readonly only?: string[];
}

export function register(program: Command, session: ApiSession): void {
  program
    .command('export')
    .description('Write the records of the company into files.')
    .argument('<folder>', 'where to write; created if missing, files with the same names are replaced')
    .addOption(new Option('--only <kinds...>', 'only these kinds of record').choices(EXPORTED.map(([name]) => name)))
    .addOption(amountsOption())
    .addHelpText('after', HELP)
    .action(async (folder: string, { only, ...shown }: Given) => {
      const client = session.client();
      await client.get('/v1/company', { signal: session.io.signal });
      await makeFolder(folder);
      const files: { kind: string; records: number }[] = [];
      for (const [kind, known] of EXPORTED) {
        if (only?.includes(kind) === false) continue;
        const progress = createProgress(session.io, kind.padEnd(20), 'records', session.json);
        const work = exportKind(session, join(folder, `${kind}.${session.csv ? 'csv' : 'ndjson'}`), known, shown, (count) =>
          progress.update(count, 0, undefined),
        );
        files.push({ kind, records: await work.catch(explainFolder).finally(progress.end) });
      }
      const records = files.reduce((sum, each) => sum + each.records, 0);
      const text = table(files, { kind: (file) => file.kind, records: (file) => file.records }, 'There is nothing to export.');
      if (session.json) session.say(JSON.stringify({ files, records }));
      else session.say(`${text}\n\n${counted(records, 'record')} exported.`);
    });
}

/** Resolves to the number of records. Rejects with the client's or the file system's errors. */
async function exportKind(session: ApiSession, file: string, { list, fields }: ListedKind, shown: Shown, onCount: (count: number) => void): Promise<number> {
  let count = 0;
  await writeWhole(file, async function* () {
    const csv = csvLines(fields, shown.amounts === 'dollars');
    if (session.csv) yield `${csv.heading}\n`;
    for await (const { data } of session.client().pages(list as '/v1/invoices', { query: { limit: 100 }, signal: session.io.signal })) {
      count += data.length;
      onCount(count);
      const rows: readonly JsonRecord[] = data;
      if (rows.length > 0) yield rows.map((row) => `${session.csv ? csv.line(row) : JSON.stringify(row)}\n`).join('');
    }
  });
  return count;
}
