import type { Command } from 'commander';
import { readProfiles, writeProfiles } from '../profiles.ts';
import type { ApiSession } from '../session.ts';
import { Failure } from '../terminal/failure.ts';

export function register(program: Command, session: ApiSession): void {
  program
    .command('logout')
    .description('Forget the credential of a profile.')
    .addHelpText('after', '\nThe API goes on accepting the credential. A key is revoked in the console.')
    .action(() => {
      const { profile } = session;
      const { [profile]: gone, ...others } = readProfiles(session.io.env);
      if (gone === undefined) throw new Failure(`There is no profile ${profile}: \`truckroll profiles\` lists them.`);
      writeProfiles(session.io.env, others);
      session.print({ profile }, `Forgot the profile ${profile}.`);
    });
}
