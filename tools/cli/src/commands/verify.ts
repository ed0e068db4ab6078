import { CompanyAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { recordOwners, resource } from '@truckroll/contract';
import type { Command } from 'commander';
import { knownCompany } from '../company.ts';
import { EXIT } from '@truckroll/integrator-cli/terminal/failure';
import { createProgress } from '@truckroll/integrator-cli/terminal/progress';
import type { Session } from '../session.ts';
import { table, type Columns } from '@truckroll/integrator-cli/terminal/table';
import { READ_MODELS, compareReadModel, type Difference } from '../verify/compare.ts';
import { verifyReports, type WrongReport } from '../verify/reports.ts';
import { checkRules, type Broken } from '../verify/rules.ts';

const HELP = `
Compares every record of its owner with reporting's read model. Read models follow within moments, so a record that has just
changed may differ for a second. A record that still differs in the next run is wrong: \`truckroll rebuild reporting\` fixes it.

Recomputes every report sum from those read models at one moment, by day and month, in total and by group. Differences are
listed by report, period and group; \`truckroll rebuild reporting\` fixes them.

Checks every record against the current rules for imports. A record that was stored before a rule existed is listed with field
and reason; it stays readable. To fix it, import a corrected version.

The exit code is 1 if anything is listed.

Examples:
  truckroll verify
  truckroll verify --company 7d1c…`;

export function register(program: Command, session: Session): void {
  program
    .command('verify')
    .description(
      "Compare reporting's read models with the records that they follow, reports with their sources, and all records with the current rules; print the differences.",
    )
    .option('--company <id>', 'only this company')
    .addHelpText('after', HELP)
    .action(async ({ company }: { company?: string }) => {
      const companies =
        company === undefined
          ? (await session.client('integrations', CompanyAdminServiceService).listCompanies({ id: null })).companies
          : [await knownCompany(session, company)];
      const differences: Difference[] = [];
      const wrong: WrongReport[] = [];
      const broken: Broken[] = [];
      let sums = 0;
      let compared = 0;
      let checked = 0;
      const progress = createProgress(session.io, 'verifying', 'records', session.json);
      const parts = companies.length * (READ_MODELS.length + 1 + recordOwners.length);
      let part = 0;
      const report = (count: number, share: number): void => progress.update(compared + checked + count, part + share, parts);
      try {
        for (const { id, timezone } of companies) {
          for (const path of READ_MODELS) {
            const owner = resource(path).owner;
            const channels = { owner: session.channel(owner), reporting: session.channel('reporting') };
            const result = await compareReadModel(channels, { id, timezone }, path, report).catch((error: unknown) => {
              throw session.away(owner, error);
            });
            compared += result.compared;
            differences.push(...result.differences);
            part += 1;
          }
          const reports = await verifyReports(session.channel('reporting'), id, session.io.signal).catch((error: unknown) => {
            throw session.away('reporting', error);
          });
          sums += reports.sums;
          wrong.push(...reports.wrong);
          part += 1;
          for (const owner of recordOwners) {
            const result = await checkRules(session.channel(owner), id, session.io.signal, (count) => report(count, 0)).catch((error: unknown) => {
              throw session.away(owner, error);
            });
            checked += result.checked;
            broken.push(...result.broken);
            part += 1;
          }
        }
      } finally {
        progress.end();
      }
      if (differences.length + wrong.length + broken.length > 0) session.exitCode = EXIT.refused;
      const text = [
        table(differences, DIFFERENCES, ''),
        `${compared} records of ${companies.length} companies compared, ${differences.length} differ`,
        table(wrong, WRONG, ''),
        `${sums} sums of reports worked out anew, ${wrong.length} differ`,
        table(broken, BROKEN, ''),
        `${checked} records checked, ${new Set(broken.map(({ path, id }) => `${path}/${id}`)).size} break a rule of now`,
      ];
      session.print(
        { compared, companies: companies.length, differences, sums, reports: wrong, checked, broken },
        text.filter((part) => part !== '').join('\n'),
      );
    });
}

const DIFFERENCES: Columns<Difference> = {
  company: (row) => row.company,
  record: (row) => row.path,
  id: (row) => row.id,
  difference: (row) => row.reason,
};

const WRONG: Columns<WrongReport> = {
  company: (row) => row.company,
  report: (row) => row.report,
  period: (row) => row.period,
  group: (row) => row.group,
  difference: (row) => row.difference,
};

const BROKEN: Columns<Broken> = {
  company: (row) => row.company,
  record: (row) => row.path,
  id: (row) => row.id,
  field: (row) => row.field,
  reason: (row) => row.message,
};
