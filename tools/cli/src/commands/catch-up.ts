import { changeKinds, components, owners as services, type Owner } from '@truckroll/contract';
import { CatchUpServiceService, type CatchUpRun } from '@truckroll/contract/gen/records/v1/catch_up';
import type { Command } from 'commander';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { createProgress } from '@truckroll/integrator-cli/terminal/progress';
import type { Session } from '../session.ts';
import { table } from '@truckroll/integrator-cli/terminal/table';

/** The services that have a task. */
const TASKS: Readonly<Record<string, readonly Owner[]>> = {
  publish: services.filter((owner) => components.some(({ name, publishes }) => name === owner && publishes)),
  feed: services.filter((service) => changeKinds.some(({ owner }) => owner === service)),
};
const EXAMPLES = `
Services process stored records by themselves after an upgrade. A task does it again for all of them: reads and writes continue,
it is safe to repeat, and if the command is interrupted, the service goes on. PROCESSED is how many records a run has read, and not
how many there are: what is stored after its end needs no run. A run with "complete": false in --json has never reached its end,
and what needs it answers 503 until then.

Tasks:
  publish   publish again the records that other services keep in read models
  feed      add records to the change feed that it lacks

Examples:
  truckroll catch-up
  truckroll catch-up publish --service billing`;

type Listed = CatchUpRun & { service: Owner };

export function register(program: Command, session: Session): void {
  program
    .command('catch-up')
    .description('Show how far services have processed stored records, or process them again.')
    .argument('[task]', Object.keys(TASKS).join(' or '))
    .option('--service <service>', 'only this service; default: all that have the task')
    .addHelpText('after', EXAMPLES)
    .action(async (task: string | undefined, { service }: { service?: string }) => {
      const owners = chosen(task === undefined ? services : (TASKS[task] ?? unknown('task', task, Object.keys(TASKS))), service, task);
      const runs = task === undefined ? await list(session, owners) : await start(session, owners, task);
      const columns = {
        service: (run: Listed) => run.service,
        task: (run: Listed) => run.task,
        kind: (run: Listed) => run.subject,
        processed: (run: Listed) => run.processed,
        state: (run: Listed) => (run.done ? 'done' : 'running'),
      };
      session.print({ runs }, table(runs, columns, 'No service has a run.'));
    });

  // The name of `catch-up publish` in release 1.3.0.
  program
    .command('publish', { hidden: true })
    .argument('<service>')
    .action(async (service: string) => {
      const runs = await start(session, chosen(TASKS['publish'] as readonly Owner[], service, 'publish'), 'publish');
      const lines = runs.map(({ subject, processed }) => `${subject}: ${processed} records published`);
      session.print({ published: Object.fromEntries(runs.map(({ subject, processed }) => [subject, processed])) }, lines.join('\n'));
    });
}

function chosen(owners: readonly Owner[], service: string | undefined, task?: string): readonly Owner[] {
  if (service === undefined) return owners;
  const owner = services.find((name) => name === service);
  if (owner === undefined) return unknown('service', service, owners);
  if (!owners.includes(owner)) throw new Failure(`The service ${service} has no task ${task}: give ${owners.join(' or ')}.`, EXIT.usage);
  return [owner];
}

function unknown(what: string, given: string, known: readonly string[]): never {
  throw new Failure(`There is no ${what} "${given}": give ${known.join(' or ')}.`, EXIT.usage);
}

async function list(session: Session, owners: readonly Owner[]): Promise<Listed[]> {
  const lists = await Promise.all(owners.map(async (service) => ({ service, ...(await session.client(service, CatchUpServiceService).listRuns({})) })));
  return lists.flatMap(({ service, runs }) => runs.map((run) => listed(service, run)));
}

/** The total of a run that has ended is exact. */
const listed = (service: Owner, run: CatchUpRun): Listed => ({ ...run, service, total: run.done ? run.processed : run.total });

/** Begins a task again in each service, and waits until its runs have ended. */
async function start(session: Session, owners: readonly Owner[], task: string): Promise<Listed[]> {
  const runs = new Map<string, Listed>();
  const progress = createProgress(session.io, `catching up: ${task}`, 'records', session.json);
  try {
    for (const service of owners) {
      try {
        for await (const { run } of session.channel(service).client(CatchUpServiceService).startRuns({ task }, { signal: session.io.signal })) {
          if (run == null) continue;
          runs.set(`${service} ${run.subject}`, listed(service, run));
          const [count, total] = [sum(runs.values(), 'processed'), sum(runs.values(), 'total')];
          progress.update(count, count, total === 0 ? undefined : total);
        }
      } catch (error) {
        throw session.away(service, error);
      }
    }
  } finally {
    progress.end();
  }
  return [...runs.values()];
}

function sum(runs: Iterable<Listed>, name: 'processed' | 'total'): number {
  return [...runs].reduce((total, run) => total + run[name], 0);
}
