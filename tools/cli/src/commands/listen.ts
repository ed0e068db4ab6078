import { positiveInteger } from '@truckroll/integrator-cli/terminal/arguments';
import { once } from 'node:events';
import { InvalidArgumentError, type Command } from 'commander';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import type { Session } from '../session.ts';

interface Given {
  port: number;
  secret: string[];
  status: number;
  count?: number;
}

const HELP = `
Receives webhooks on this machine, verifies them with \`@truckroll/client\`, and prints them. \`npm start\`
allows deliveries to http://127.0.0.1:4567/, so create an endpoint with that URL and put its signingSecret into
TRUCKROLL_WEBHOOK_SECRET. Unverified requests are answered and reported, but their content is not shown: any program on this
machine may have sent them. Times are UTC. Ends with Ctrl-C, or after --count deliveries.

Exit codes: 0 every request was verified (or no secret was given), 1 a request was refused, 2 wrong usage, 3 the port is in
use.

Examples:
  TRUCKROLL_WEBHOOK_SECRET=whsec_… truckroll listen
  truckroll listen --status 503                          # see how deliveries are retried
  TRUCKROLL_WEBHOOK_SECRET=whsec_… truckroll listen --json --count 1`;

export function register(program: Command, session: Session): void {
  program
    .command('listen')
    .description('Receive webhooks on this machine, verify and print them.')
    .option('--port <port>', 'port on 127.0.0.1', portNumber, 4567)
    .option(
      '--secret <whsec_…>',
      'deprecated: set TRUCKROLL_WEBHOOK_SECRET, or TRUCKROLL_WEBHOOK_SECRET_FILE; two with a comma while it is rotating',
      secrets,
      [],
    )
    .option('--status <code>', 'status to answer with', statusCode, 204)
    .option('--count <number>', 'end after this number of deliveries', positiveInteger)
    .addHelpText('after', HELP)
    .action(async (given: Given) => {
      const [{ startReceiver }, { described }] = await Promise.all([import('../listen/receiver.ts'), import('../listen/verdict.ts')]);
      const { signal } = session.io;
      const known = session.webhookSecrets(given.secret);
      if (!known.every(isSecret))
        throw new Failure('A signing secret begins with whsec_, followed by base64: copy it from the answer that created the endpoint.');
      const enough = new AbortController();
      const seen = new Set<string>();
      let count = 0;
      const receiver = await startReceiver({
        port: given.port,
        secrets: known,
        status: given.status,
        received: (verdict) => {
          session.print(verdict, described(verdict, new Date(), seen.has(verdict.id)));
          seen.add(verdict.id);
          if (verdict.problem !== undefined) session.exitCode = EXIT.refused;
          count += 1;
          if (count === given.count) enough.abort();
        },
      }).catch((error: Error) => {
        throw new Failure(
          `Port ${given.port} cannot be used (${error.message}): stop what uses it, or choose another one with --port.`,
          EXIT.unreachable,
          error,
        );
      });
      session.note(
        `Listening on http://127.0.0.1:${receiver.port}/ ${known.length === 0 ? 'without verifying, hence without showing what comes' : 'and verifying'}; Ctrl-C ends it.`,
      );
      const end = AbortSignal.any([signal, enough.signal]);
      if (!end.aborted) await once(end, 'abort');
      await receiver.close();
    });
}

function isSecret(text: string): boolean {
  return /^whsec_[A-Za-z0-9+/]{16,}={0,2}$/.test(text);
}

function secrets(text: string, before: string[]): string[] {
  return [...before, text];
}

function portNumber(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError('Give a port from 1 to 65535.');
  return Number(text);
}

function statusCode(text: string): number {
  if (!/^[2-5]\d\d$/.test(text)) throw new InvalidArgumentError('Give a status from 200 to 599.');
  return Number(text);
}
