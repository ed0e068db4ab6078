import { ReportingAdminServiceService } from '@truckroll/contract/gen/reporting/v1/admin';
import type { Command } from 'commander';
import { Failure } from '@truckroll/integrator-cli/terminal/failure';
import { createProgress } from '@truckroll/integrator-cli/terminal/progress';
import type { Session } from '../session.ts';

const EXAMPLES = `
Reads continue. It is safe to interrupt and to repeat.

Examples:
  truckroll rebuild reporting`;

export function register(program: Command, session: Session): void {
  program
    .command('rebuild')
    .description("Rebuild a service's read models of other services' records from their topics.")
    .argument('<service>', 'reporting, the only service with read models')
    .addHelpText('after', EXAMPLES)
    .action(async (service: string) => {
      if (service !== 'reporting') throw new Failure(`There are no read models to rebuild in ${service}: give reporting.`);
      const tables: { table: string; applied: number; removed: number }[] = [];
      const progress = createProgress(session.io, 'rebuilding reporting', 'events', session.json);
      try {
        const steps = session.channel('reporting').client(ReportingAdminServiceService).rebuild({}, { signal: session.io.signal });
        let before = 0;
        for await (const { table, applied, removed, done, share } of steps) {
          progress.update(before + applied, share, share === 0 ? undefined : 1);
          if (!done) continue;
          before += applied;
          tables.push({ table, applied, removed });
        }
      } catch (error) {
        throw session.away('reporting', error);
      } finally {
        progress.end();
      }
      const lines = tables.map(({ table, applied, removed }) => `${table}: ${applied} events applied, ${removed} stale rows removed`);
      session.print({ tables }, lines.join('\n'));
    });
}
