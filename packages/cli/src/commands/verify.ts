import { CompanyAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { resource } from '@truckroll/contract';
import type { Command } from 'commander';
import { knownCompany } from '../company.ts';
import { EXIT } from '../failure.ts';
import type { Session } from '../session.ts';
import { table, type Columns } from '../table.ts';
import { COPIED, compareCopy, type Difference } from '../verify/compare.ts';

const HELP = `
Reads every record from its owner and holds it against reporting's copy. Copies follow within moments, so what has just
changed may differ for a second: what still differs when it is run again is wrong, and \`truckroll rebuild reporting\`
mends it.

Examples:
  truckroll verify
  truckroll verify --company 7d1c…`;

export function register(program: Command, session: Session): void {
  program
    .command('verify')
    .description("Compare reporting's copies with the records that they are copies of, and print what differs by id.")
    .option('--company <id>', 'only this company')
    .addHelpText('after', HELP)
    .action(async ({ company }: { company?: string }) => {
      const companies =
        company === undefined
          ? (await session.client('integrations', CompanyAdminServiceService).listCompanies({ id: null })).companies
          : [await knownCompany(session, company)];
      const differences: Difference[] = [];
      let compared = 0;
      for (const { id, timezone } of companies) {
        for (const path of COPIED) {
          const owner = resource(path).owner;
          const channels = { owner: session.channel(owner), reporting: session.channel('reporting') };
          const result = await compareCopy(channels, { id, timezone }, path).catch((error: unknown) => {
            throw session.away(owner, error);
          });
          compared += result.compared;
          differences.push(...result.differences);
        }
      }
      if (differences.length > 0) session.exitCode = EXIT.refused;
      const summary = `${compared} records of ${companies.length} companies compared, ${differences.length} differ`;
      const columns: Columns<Difference> = {
        company: (row) => row.company,
        record: (row) => row.path,
        id: (row) => row.id,
        difference: (row) => row.reason,
      };
      session.print({ compared, companies: companies.length, differences }, `${table(differences, columns, '')}\n${summary}`.trim());
    });
}
