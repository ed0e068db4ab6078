import type { Command } from 'commander';
import { knownCompany } from '../company.ts';
import { EXIT, Failure } from '../failure.ts';
import { planImport, type InputFile } from '../import/files.ts';
import { NotImported, importRecords } from '../import/importer.ts';
import { batchesOf } from '../import/lines.ts';
import { sum, totalsTable, recordsOf, type Totals } from '../import/totals.ts';
import { duration } from '../progress.ts';
import type { Session } from '../session.ts';

const HELP = `
Files are newline-delimited JSON of the records as the API returns them, one file for each path: invoices.ndjson holds
what /v1/invoices lists. A folder that \`truckroll export\` wrote can be given as it is. Reference data goes first.

A line is added, or replaces the record with its id; a line that changes nothing is counted as unchanged, so the same
import may be run again at any time. A bad line, or one whose id comes again in the file, is reported as file:line field:
reason and stops nothing else; the exit code is then 1. --dry-run says the same of every line, and stores nothing: what a
file would have left behind is not there for the next one, so that sums over several files may be judged differently. With --json bad lines are JSON objects on standard error, and the summary is one on standard output.

Examples:
  truckroll import ./lone-star --company 7d1c… --dry-run
  truckroll import ./lone-star --company 7d1c…
  truckroll import invoices.ndjson payments.ndjson --company 7d1c…`;

export function register(program: Command, session: Session): void {
  program
    .command('import')
    .description('Import records into a company.')
    .argument('<files...>', 'folders or files such as invoices.ndjson')
    .requiredOption('--company <id>', 'id of the company that the records are to belong to')
    .option('--dry-run', 'only say what would become of each line')
    .addHelpText('after', HELP)
    .action(async (files: string[], { company, dryRun = false }: { company: string; dryRun?: boolean }) => {
      const startedAt = performance.now();
      const plan = planImport(files);
      const companyId = (await knownCompany(session, company)).id;
      for (const remark of plan.ignored) session.note(remark);
      const totals: Totals[] = [];
      for (const input of plan.inputs) {
        try {
          totals.push(await importFile(session, companyId, input, dryRun));
        } catch (error) {
          if (!(error instanceof NotImported)) throw unreadable(error, input.file);
          session.note(error.message);
          session.exitCode = EXIT.refused;
        }
      }
      report(session, totals, (performance.now() - startedAt) / 1000, dryRun);
    });
}

function unreadable(error: unknown, file: string): unknown {
  const code = error instanceof Error && 'syscall' in error ? (error as NodeJS.ErrnoException).code : undefined;
  if (code === undefined) return error;
  return new Failure(`${file} cannot be read (${code}): see that it is there and that you may read it.`, EXIT.unreachable, error);
}

async function importFile(session: Session, companyId: string, input: InputFile, dryRun: boolean): Promise<Totals> {
  return await importRecords(session, {
    companyId,
    dryRun,
    resource: input.resource,
    name: input.file,
    total: input.bytes,
    batches: (onTooLong) => batchesOf(input.file, onTooLong),
  });
}

function report(session: Session, totals: readonly Totals[], seconds: number, dryRun: boolean): void {
  const together = sum(totals);
  const rate = Math.round(recordsOf(together) / Math.max(seconds, 0.001)).toLocaleString('en');
  const text = `${totalsTable(totals)}\n\n${dryRun ? 'Tried, and nothing was stored,' : 'Imported'} in ${duration(seconds)}, ${rate} records a second.`;
  session.print({ ...(dryRun && { dry_run: true }), files: totals, ...together, path: undefined, seconds: Math.round(seconds * 1000) / 1000 }, text);
  if (together.refused + together.repeated > 0) session.exitCode = EXIT.refused;
}
