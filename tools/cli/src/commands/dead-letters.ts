import { components, formatInstant, owners } from '@truckroll/contract';
import { ParkingServiceService } from '@truckroll/contract/gen/events/v1/parking';
import type { Command } from 'commander';
import { EXIT } from '@truckroll/integrator-cli/terminal/failure';
import type { Session } from '../session.ts';
import { table } from '@truckroll/integrator-cli/terminal/table';

/** Services with dead letters: those that consume events into their own tables, and integrations, which keeps events that webhook dispatchers do not know. */
const CONSUMERS = owners.filter((owner) => components.some(({ name, consumes }) => name === owner && consumes));
const LISTED = 100;
/** Longest time in ms of one retry call; the next call tries what remains. */
const RETRY_MS = 600_000;

const EXAMPLES = `
A dead letter is an event that could not be applied and was stored, so that it does not block other events. Fix the cause that
the reason names, then retry: each event is applied in its own transaction, and never over a newer one. Dead letters of
integrations are public events that webhook dispatchers do not know yet: upgraded dispatchers deliver them automatically.

Examples:
  truckroll dead-letters list
  truckroll dead-letters retry`;

export function register(program: Command, session: Session): void {
  const deadLetters = program
    .command('dead-letters')
    .alias('parked')
    .description('See events that services could not apply, and apply them again.')
    .addHelpText('after', EXAMPLES);

  deadLetters
    .command('list')
    .description(`List dead letters, the oldest ${LISTED} of each service.`)
    .action(async () => {
      const events: Record<string, unknown>[] = [];
      let more = 0;
      for (const service of CONSUMERS) {
        const found = await session.client(service, ParkingServiceService).listParkedEvents({ limit: LISTED });
        more += found.count - found.events.length;
        events.push(...found.events.map((event) => ({ service, ...event, parked_at: formatInstant(event.parked_at) })));
      }
      const columns = {
        service: (row: Record<string, unknown>) => row['service'],
        since: (row: Record<string, unknown>) => row['parked_at'],
        type: (row: Record<string, unknown>) => row['type'],
        key: (row: Record<string, unknown>) => row['key'],
        reason: (row: Record<string, unknown>) => row['reason'],
      };
      session.print({ events, more }, table(events, columns, 'There are no dead letters.') + (more > 0 ? `\n… and ${more} more.` : ''));
    });

  deadLetters
    .command('retry')
    .description('Apply dead letters again, the oldest first; ends with 1 where one still cannot be applied.')
    .action(async () => {
      const services: { service: string; applied: number; reason: string | null }[] = [];
      for (const service of CONSUMERS) {
        const { applied, reason = null } = await session.client(service, ParkingServiceService).retryParkedEvents({}, { deadlineMs: RETRY_MS });
        services.push({ service, applied, reason });
        if (reason !== null) session.exitCode = EXIT.refused;
      }
      const lines = services.map(
        ({ service, applied, reason }) => `${service}: ${applied} applied${reason === null ? '' : `; the next one cannot be: ${reason}`}`,
      );
      session.print({ services }, lines.join('\n'));
    });
}
