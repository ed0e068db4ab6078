import { components, owners } from '@truckroll/contract';
import { PublishingServiceService } from '@truckroll/contract/gen/records/v1/records';
import type { Command } from 'commander';
import { Failure } from '../failure.ts';
import { createProgress } from '../progress.ts';
import type { Session } from '../session.ts';

const SERVICES = owners.filter((owner) => components.some(({ name, publishes }) => name === owner && publishes));
const EXAMPLES = `
Reads and writes continue. It is safe to repeat; if the command is interrupted, the service continues by itself.

Examples:
  truckroll publish billing`;

export function register(program: Command, session: Session): void {
  program
    .command('publish')
    .description('Publish again all records of a service that other services keep in read models.')
    .argument('<service>', SERVICES.join(' or '))
    .addHelpText('after', EXAMPLES)
    .action(async (service: string) => {
      const owner = SERVICES.find((name) => name === service);
      if (owner === undefined) throw new Failure(`No service keeps a read model of what ${service} holds: give ${SERVICES.join(' or ')}.`);
      const published = new Map<string, number>();
      const totals = new Map<string, number | undefined>();
      const progress = createProgress(session.io, `publishing ${owner}`, 'records', session.json);
      try {
        for await (const step of session.channel(owner).client(PublishingServiceService).publish({}, { signal: session.io.signal })) {
          published.set(step.path, step.published);
          // When a path is done its total is exact. Services of an earlier release send no totals.
          totals.set(step.path, step.done ? step.published : step.total || undefined);
          const count = sum(published.values());
          const known = [...totals.values()].filter((total) => total !== undefined);
          progress.update(count, count, known.length < totals.size ? undefined : sum(known));
        }
      } catch (error) {
        throw session.away(owner, error);
      } finally {
        progress.end();
      }
      const lines = [...published].map(([path, count]) => `${path}: ${count} records published`);
      session.print({ published: Object.fromEntries(published) }, lines.join('\n'));
    });
}

function sum(counts: Iterable<number>): number {
  return [...counts].reduce((total, count) => total + count, 0);
}
