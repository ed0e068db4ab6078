import { UserAdminServiceService, type User } from '@truckroll/contract/gen/integrations/v1/admin';
import type { Command } from 'commander';
import { plain } from '../plain.ts';
import type { Session } from '../session.ts';
import { card, table } from '@truckroll/integrator-cli/terminal/table';

interface NewUser {
  company: string;
  email: string;
  firstName: string;
  lastName: string;
  subject?: string;
}

export function register(program: Command, session: Session): void {
  const user = program.command('user').description('Users of a company, identified by API keys and user tokens.');
  const service = () => session.client('integrations', UserAdminServiceService);

  user
    .command('create')
    .description('Add a user to a company.')
    .requiredOption('--company <id>', 'id of the company')
    .requiredOption('--email <address>', 'e-mail address')
    .requiredOption('--first-name <name>', 'given name')
    .requiredOption('--last-name <name>', 'family name')
    .option('--subject <sub>', '`sub` of the user’s tokens from your issuer; default: the id of the user')
    .addHelpText('after', '\nExample:\n  truckroll user create --company 7d1c… --email ana@example.com --first-name Ana --last-name Ruiz')
    .action(async ({ company, email, firstName, lastName, subject }: NewUser) => {
      const names = { company_id: company, email, first_name: firstName, last_name: lastName };
      const answer = await service().createUser({ ...names, ...(subject === undefined ? {} : { subject }) });
      show(session, answer.user as User);
    });

  user
    .command('list')
    .description('List the users of a company, oldest first, including inactive ones.')
    .requiredOption('--company <id>', 'id of the company')
    .action(async ({ company }: { company: string }) => {
      const rows = (await service().listUsers({ company_id: company })).users.map(asPlain);
      const columns = {
        ID: (row: Row) => row['id'],
        NAME: (row: Row) => `${String(row['first_name'])} ${String(row['last_name'])}`,
        'E-MAIL': (row: Row) => row['email'],
        ACTIVE: (row: Row) => row['active'],
        CREATED: (row: Row) => row['created_at'],
      };
      session.print(rows, table(rows, columns, 'The company has no user yet: add one with `truckroll user create`.'));
    });

  user
    .command('deactivate')
    .description('Deactivate a user. Their keys and tokens get 401 within a second.')
    .argument('<id>', 'id of the user')
    .action(async (id: string) => show(session, (await service().deactivateUser({ id })).user as User));

  user
    .command('move')
    .description('Move a user to another company. Their keys of the old company get 401 within a second.')
    .argument('<id>', 'id of the user')
    .requiredOption('--to <id>', 'id of the company to move to')
    .action(async (id: string, { to }: { to: string }) => {
      show(session, (await service().moveUser({ id, company_id: to })).user as User);
    });
}

type Row = ReturnType<typeof asPlain>;

function asPlain(user: User) {
  return plain('truckroll.integrations.v1.User', user);
}

function show(session: Session, user: User): void {
  const fields = asPlain(user);
  session.print(fields, card(fields));
}
