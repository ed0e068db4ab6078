import { join } from 'node:path';
import type { Command } from 'commander';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import type { Session } from '../session.ts';
import { table } from '@truckroll/integrator-cli/terminal/table';
import { details, linesOf, requestName, type LogLine } from '../trace/lines.ts';

const AFTER_HELP = `
The request id is in an answer's X-Request-Id header and in request_id of its body; a webhook delivery shows the id of the
request that caused it. The command prints every line that a component wrote for the request, including webhooks, from the logs
of \`npm start\`. For other installations, search your log store for requestId.

Examples:
  truckroll trace 0d5e8c1a-7c0b-4f5e-9a41-2f6f7d3b8c55
  truckroll trace 0d5e8c1a-7c0b-4f5e-9a41-2f6f7d3b8c55 --json | jq .lines[].msg`;

export function register(program: Command, session: Session): void {
  program
    .command('trace')
    .description('Follow one request through the logs of all components.')
    .argument('<request id>', 'as in X-Request-Id; or the id of its trace')
    .addHelpText('after', AFTER_HELP)
    .action(async (given: string) => {
      const name = requestName(given);
      if (name === undefined)
        throw new Failure(`${given} is not a request id: give the X-Request-Id of an answer, such as 0d5e8c1a-7c0b-4f5e-9a41-2f6f7d3b8c55.`);
      const folder = join(session.state, 'logs');
      const lines = await linesOf(folder, name).catch((error: unknown) => {
        const { code } = error as NodeJS.ErrnoException;
        if (code === undefined) throw error;
        throw new Failure(
          code === 'ENOENT'
            ? `There are no logs in ${folder}: run this where \`npm start\` runs.`
            : `The logs in ${folder} cannot be read (${code}): check that they are files that you may read.`,
        );
      });
      if (lines.length === 0) {
        session.exitCode = EXIT.refused;
        session.note(`No line in ${folder} is of this request: it may be of another installation, or older than the logs.`);
      }
      session.print({ lines }, lines.length === 0 ? 'Nothing was found.' : shown(lines));
    });
}

function shown(lines: readonly LogLine[]): string {
  const start = Date.parse(lines[0]?.time ?? '');
  return table(
    lines,
    {
      time: ({ time }) => time,
      'after ms': ({ time }) => Date.parse(time) - start,
      component: ({ service }) => service,
      level: ({ level }) => level,
      what: ({ msg }) => msg,
      details,
    },
    '',
  );
}
