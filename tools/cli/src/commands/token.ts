import { formatInstant } from '@truckroll/contract';
import { UserAdminServiceService, type User } from '@truckroll/contract/gen/integrations/v1/admin';
import type { Command } from 'commander';
import { durationOption } from '../arguments.ts';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { issueToken } from '@truckroll/local-stack/issue-token';
import type { Session } from '../session.ts';

interface Given {
  company: string;
  user?: string;
  subject?: string;
  expiresIn: number;
  issuer?: string;
  audience?: string;
}

const HELP = `
For development only: the token is signed with a key below .truckroll, whose public half is in .truckroll/jwks.json. The
gateway of \`npm start\` trusts that file; another gateway needs TOKEN_JWKS_FILE, TOKEN_ISSUER and TOKEN_AUDIENCE set to the
values that --json shows. This command reads TOKEN_ISSUER and TOKEN_AUDIENCE, too.

Examples:
  truckroll token --company 7d1c… --user ana@example.com
  curl -H "Authorization: Bearer $(truckroll token --company 7d1c… --user 90af…)" http://127.0.0.1:8080/v1/company`;

export function register(program: Command, session: Session): void {
  program
    .command('token')
    .description('Print a user token of the development issuer.')
    .requiredOption('--company <id>', 'id of the company that the token is for')
    .option('--user <id or e-mail>', 'a user of that company')
    .option('--subject <sub>', 'instead of --user: value of `sub`, without checking that the user exists')
    .addOption(durationOption('--expires-in <duration>', 'how long it is valid, at most TOKEN_MAX_AGE of the gateway', '8h'))
    .option('--issuer <iss>', 'value of `iss`')
    .option('--audience <aud>', 'value of `aud`')
    .addHelpText('after', HELP)
    .action(async (given: Given) => {
      const { env } = session.io;
      const issued = await issueToken(session.state, {
        subject: given.subject ?? (await findUser(session, given)).subject,
        companyId: given.company,
        lifetimeSeconds: given.expiresIn,
        issuer: given.issuer ?? env['TOKEN_ISSUER'],
        audience: given.audience ?? env['TOKEN_AUDIENCE'],
      });
      const { token, issuer, audience, jwksFile } = issued;
      const answer = { token, expires_at: formatInstant(issued.expiresAt * 1_000_000), issuer, audience, jwks_file: jwksFile };
      session.print(answer, token);
    });
}

async function findUser(session: Session, { company, user }: Given): Promise<User> {
  if (user === undefined) throw new Failure('Give the user of the token: --user with an id or e-mail address, or --subject.');
  const { users } = await session.client('integrations', UserAdminServiceService).listUsers({ company_id: company });
  const wanted = user.toLowerCase();
  const found = users.filter((candidate) => candidate.id === wanted || candidate.email.toLowerCase() === wanted);
  const chosen = found.find((candidate) => candidate.active) ?? found[0];
  if (chosen === undefined) throw new Failure('The company has no such user: see them with `truckroll user list`.', EXIT.refused);
  if (!chosen.active) session.note('This user is inactive, so the API answers 401 to the token.');
  return chosen;
}
