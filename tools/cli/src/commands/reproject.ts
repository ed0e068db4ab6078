import { recordOwners, resource, resources, type Owner } from '@truckroll/contract';
import { ProjectionServiceService } from '@truckroll/contract/gen/records/v1/projections';
import type { Command } from 'commander';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { createProgress } from '@truckroll/integrator-cli/terminal/progress';
import type { Session } from '../session.ts';
import { table } from '@truckroll/integrator-cli/terminal/table';

const EXAMPLES = `
Services do this by themselves at start and while an older replica is still writing. This command does it now, at full speed,
and reports when it is done. Reads and writes continue. It is safe to interrupt and to repeat.

A record that the current rules refuse is named with the reason and stays unchanged; the exit code is then 1.

Examples:
  truckroll reproject
  truckroll reproject job-appointments
  truckroll reproject copies/jobs`;

const READ_MODELS = 'copies/';

interface Done {
  path: string;
  renewed: number;
  behind: number;
}

export function register(program: Command, session: Session): void {
  program
    .command('reproject')
    .description('Reproject records that an older version of the rules has written.')
    .argument('[path]', "public path of the records, or copies/… for reporting's read models; default: all")
    .addHelpText('after', EXAMPLES)
    .action(async (path: string | undefined) => {
      const done: Done[] = [];
      const refused: Record<string, string>[] = [];
      const progress = createProgress(session.io, 'projecting anew', 'records', session.json);
      for (const owner of ownersOf(path)) {
        try {
          const steps = session
            .channel(owner)
            .client(ProjectionServiceService)
            .reproject({ path: path ?? '' }, { signal: session.io.signal });
          const before = done.reduce((sum, { renewed }) => sum + renewed, 0);
          let ofOwner = 0;
          for await (const { refused: rows, done: complete, ...step } of steps) {
            progress.update(before + ofOwner + step.renewed, step.renewed, step.renewed + step.behind);
            if (!complete) continue;
            ofOwner += step.renewed;
            done.push(step);
            refused.push(...rows.map((row) => ({ path: step.path, ...row })));
          }
        } catch (error) {
          throw session.away(owner, error);
        } finally {
          progress.clear();
        }
      }
      if (refused.length > 0) session.exitCode = EXIT.refused;
      const columns = {
        record: (row: Record<string, string>) => row['path'],
        company: (row: Record<string, string>) => row['company_id'],
        id: (row: Record<string, string>) => row['id'],
        reason: (row: Record<string, string>) => row['reason'],
      };
      const lines = done
        .filter(({ renewed, behind }) => renewed + behind > 0)
        .map(({ path: of, renewed, behind }) => `${of}: ${renewed} projected anew${behind > 0 ? `, ${behind} still older` : ''}`);
      session.print(
        { paths: done, refused },
        [...(refused.length > 0 ? [table(refused, columns, '')] : []), ...(lines.length > 0 ? lines : ['Every record is as its rules would have it.'])].join(
          '\n',
        ),
      );
    });
}

/** Projected as records are, although they have no list. */
const WITHOUT_LIST: Readonly<Record<string, Owner>> = { 'service-requests': 'scheduling' };

function ownersOf(path: string | undefined): readonly Owner[] {
  if (path === undefined) return recordOwners;
  if (path.startsWith(READ_MODELS)) return ['reporting'];
  const owner = WITHOUT_LIST[path];
  if (owner !== undefined) return [owner];
  if (resources.some((candidate) => candidate.path === path)) return [resource(path).owner];
  throw new Failure(`There are no records at ${path}: give one of ${resources.map((candidate) => candidate.path).join(', ')}, or copies/jobs.`, EXIT.usage);
}
