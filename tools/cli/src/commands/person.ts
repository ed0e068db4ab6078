import { Argument, type Command } from 'commander';
import type { Session } from '../session.ts';

const ERASE_EXAMPLES = `
The record stays, with the name "Erased person" and without ways to reach the person; so does every record that refers to it. A later import
does not bring the person back. If the command is interrupted, the services go on: run it again to wait for the end. After that it says what
was erased. A team member becomes inactive; deactivate a user first. What is not erased is in docs/how-to/when-a-company-leaves.md.

Examples:
  truckroll person erase contacts 4be0… --company 7d1c…
  truckroll person erase contacts 4be0… --company 7d1c… --yes-erase "Marcus Oyelaran"
  truckroll person erase users 91aa… --company 7d1c… --yes-erase "Dana Whitfield"`;

export function register(program: Command, session: Session): void {
  program
    .command('person')
    .description('People in the records of a company.')
    .command('erase')
    .description('Erase a person who asks for it, for good. Without --yes-erase it only says who it is.')
    .addArgument(new Argument('<kind>', 'kind of the record, or users').choices(['accounts', 'contacts', 'team-members', 'users']))
    .argument('<id>', 'id of the record or user')
    .requiredOption('--company <id>', 'id of the company')
    .option('--yes-erase <name>', 'name of the person, exactly as the record shows it')
    .addHelpText('after', ERASE_EXAMPLES)
    .action(async (kind: string, id: string, { company, yesErase }: { company: string; yesErase?: string }) => {
      const { erasePerson } = await import('../leaving/erase-person.ts');
      await erasePerson(session, { company_id: company, kind, id }, yesErase);
    });
}
