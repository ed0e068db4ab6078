import type { Command } from 'commander';
import { setTimeout } from 'node:timers/promises';
import { describedArrival, forward, type Arrival } from '../listen/forward.ts';
import { openInbox } from '../listen/inbox.ts';
import type { ApiSession } from '../session.ts';
import { positiveInteger } from '../terminal/arguments.ts';
import { EXIT, Failure } from '../terminal/failure.ts';

const HELP = `
Shows the company's events as they come, from any installation, and sends each on to a program on this machine, signed as
Truckroll signs it. For that it makes a paused endpoint of its own, whose waiting deliveries it reads, oldest first, and
which it removes at the end. If it is killed, the endpoint is removed by itself within a quarter of an hour.

It needs a user token, in TRUCKROLL_TOKEN or a profile, and counts towards the company's endpoints. An event is sent on once,
whatever the answer. One that reaches the installation more than half a minute after newer ones is not shown.

Examples:
  truckroll listen
  truckroll listen --forward-to http://127.0.0.1:3000/hook --events service_request.created
  truckroll listen --json --count 1`;

interface Given {
  readonly forwardTo?: string;
  readonly events?: readonly string[];
  readonly count?: number;
}

const EVERY_MS = 1000;

export function register(program: Command, session: ApiSession): void {
  program
    .command('listen')
    .description('Show events as they come, and send them on to a program on this machine.')
    .option('--forward-to <url>', 'program that gets each event, such as http://127.0.0.1:3000/hook')
    .option('--events <types...>', 'types of events; all by default')
    .option('--count <number>', 'end after this number of events', positiveInteger)
    .addHelpText('after', HELP)
    .action(async ({ forwardTo, events, count = Infinity }: Given) => {
      const target = forwardTo === undefined ? undefined : targetOf(forwardTo);
      const { signal } = session.io;
      const inbox = await openInbox(session.userClient(), events, signal);
      session.note(`Listening${target === undefined ? '' : `, and sending on to ${target}`}; Ctrl-C ends it. Signing secret: ${inbox.secret}`);
      try {
        for (let seen = 0; seen < count; ) {
          for (const delivery of await inbox.read()) {
            const arrival: Arrival = { ...delivery, answer: target === undefined ? undefined : await forward(delivery, inbox.secret, target, signal) };
            session.print(arrival, describedArrival(arrival));
            if (typeof arrival.answer === 'string' || (arrival.answer ?? 200) >= 300) session.exitCode = EXIT.refused;
            seen += 1;
            if (seen === count) return;
          }
          await setTimeout(EVERY_MS, undefined, { signal });
        }
      } catch (error) {
        // Ctrl-C is how it ends.
        if (!signal.aborted) throw error;
      } finally {
        await inbox.close().catch(() => session.note(`The endpoint ${inbox.id} could not be removed now; it is removed by itself at ${inbox.expiresAt}.`));
      }
    });
}

function targetOf(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new Failure(`--forward-to takes an address such as http://127.0.0.1:3000/hook, not ${text}.`, EXIT.usage);
}
