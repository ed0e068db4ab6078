import type { Command } from 'commander';
import { knownCompany } from '../company.ts';
import { EXIT } from '@truckroll/integrator-cli/terminal/failure';
import { planImport, type InputFile } from '../import/files.ts';
import { NotImported, importRecords } from '../import/importer.ts';
import { batchesOf } from '../import/lines.ts';
import { sum, totalsTable, recordsOf, type Totals } from '../import/totals.ts';
import { duration } from '@truckroll/integrator-cli/terminal/progress';
import type { Session } from '../session.ts';

const HELP = `
Files contain records as newline-delimited JSON, as the API returns them, named after their path: invoices.ndjson for
/v1/invoices, or invoices.jsonl, each also compressed by gzip (.gz). A folder written by \`truckroll export\` can be given
unchanged. Reference data is imported first; several files of the same records are read in the order of their names, or as you
give them. Of a folder, dot files are ignored, links are followed inside it, and every other file that is not read is named, as
are subfolders, which are never read. If the name of one, or of a file in a subfolder, begins like invoices, the exit code is 1.

A line adds a record or replaces the record with its id. A line that changes nothing counts as unchanged, so the same import
may be repeated at any time. A bad line, or one whose id is repeated later in the file, is reported as file:line field:
reason; the other lines are imported and the exit code is 1. --dry-run reports the same but stores nothing. A dry run checks
each file without the records of the files before it, so sums across files may be judged differently. With --json, bad lines
are JSON objects on standard error, and the summary is a JSON object on standard output.

Examples:
  truckroll import ./lone-star --company 7d1c… --dry-run
  truckroll import ./lone-star --company 7d1c…
  truckroll import invoices.ndjson payments.ndjson --company 7d1c…`;

export function register(program: Command, session: Session): void {
  program
    .command('import')
    .description('Import records into a company.')
    .argument('<files...>', 'folders or files such as invoices.ndjson')
    .requiredOption('--company <id>', 'id of the company that will own the records')
    .option('--dry-run', 'report what would happen to each line, without storing anything')
    .addHelpText('after', HELP)
    .action(async (files: string[], { company, dryRun = false }: { company: string; dryRun?: boolean }) => {
      const startedAt = performance.now();
      const plan = planImport(files);
      const companyId = (await knownCompany(session, company)).id;
      for (const remark of [...plan.remarks, ...plan.unread]) session.note(remark);
      if (plan.unread.length > 0) session.exitCode = EXIT.refused;
      const totals: Totals[] = [];
      for (const input of plan.inputs) {
        try {
          totals.push(await importFile(session, companyId, input, dryRun));
        } catch (error) {
          if (!(error instanceof NotImported)) throw error;
          session.note(error.message);
          session.exitCode = EXIT.refused;
        }
      }
      report(session, totals, (performance.now() - startedAt) / 1000, dryRun);
    });
}

async function importFile(session: Session, companyId: string, input: InputFile, dryRun: boolean): Promise<Totals> {
  return await importRecords(session, {
    companyId,
    dryRun,
    resource: input.resource,
    name: input.file,
    total: input.gzip ? undefined : input.bytes,
    batches: (unsendable) => batchesOf(input, unsendable),
  });
}

function report(session: Session, totals: readonly Totals[], seconds: number, dryRun: boolean): void {
  const together = sum(totals);
  const rate = Math.round(recordsOf(together) / Math.max(seconds, 0.001)).toLocaleString('en');
  const text = `${totalsTable(totals)}\n\n${dryRun ? 'Tried, and nothing was stored,' : 'Imported'} in ${duration(seconds)}, ${rate} records a second.`;
  session.print({ ...(dryRun && { dry_run: true }), files: totals, ...together, path: undefined, seconds: Math.round(seconds * 1000) / 1000 }, text);
  if (together.refused + together.repeated > 0) session.exitCode = EXIT.refused;
}
