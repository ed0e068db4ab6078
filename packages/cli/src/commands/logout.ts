import type { Command } from 'commander';
import { changeProfiles } from '../profiles.ts';
import type { ApiSession } from '../session.ts';
import { Failure } from '../terminal/failure.ts';

export function register(program: Command, session: ApiSession): void {
  program
    .command('logout')
    .description('Forget the credential of a profile.')
    .addHelpText('after', '\nThe API goes on accepting the credential. A key is revoked in the console.')
    .action(async () => {
      const { profile } = session;
      await changeProfiles(session.io.env, ({ [profile]: gone, ...others }) => {
        if (gone === undefined) throw new Failure(`There is no profile ${profile}: \`truckroll profiles\` lists them.`);
        return others;
      });
      session.print({ profile }, `Forgot the profile ${profile}.`);
    });
}
