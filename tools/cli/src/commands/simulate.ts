import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import type { Command } from 'commander';
import { positiveInteger, seedNumber } from '../arguments.ts';
import type { Session } from '../session.ts';
import { card } from '../table.ts';

interface Given {
  speed: number;
  minutes: number;
  perHour: number;
  seed?: number;
  url?: string;
  key?: string;
}

const HELP = `
Service requests arrive, are answered and booked onto visits that the company has; technicians are put on these visits and
taken off them over the public API, with idempotency keys and revisions. Everything is recorded for good: play on a demo
company. Ctrl-C ends the day; what was begun is finished first.

Examples:
  truckroll simulate                                     # eight hours in eight minutes
  truckroll simulate --speed 1 --minutes 30              # half an hour as it would be
  truckroll simulate --speed 600 --per-hour 2000         # load`;

export function register(program: Command, session: Session): void {
  program
    .command('simulate')
    .description('Play a working day on a demo company.')
    .option('--speed <number>', 'how many times faster than real time', positiveInteger, 60)
    .option('--minutes <number>', 'length of the day in simulated minutes', positiveInteger, 480)
    .option('--per-hour <number>', 'service requests in a simulated hour', positiveInteger, 20)
    .option('--seed <number>', 'what happens follows from it; a random one unless given', seedNumber)
    .option('--url <url>', 'address of the API')
    .option('--key <key>', 'deprecated: set TRUCKROLL_API_KEY, or TRUCKROLL_API_KEY_FILE; the demo company’s unless given')
    .addHelpText('after', HELP)
    .action(async (given: Given) => {
      const { signal } = session.io;
      const [{ SchedulingApi }, { Chance }, { playDay }] = await Promise.all([
        import('../simulate/api.ts'),
        import('../simulate/chance.ts'),
        import('../simulate/day.ts'),
      ]);
      const api = new SchedulingApi({ baseUrl: session.baseUrl(given.url), apiKey: session.apiKey(given.key), signal });
      const seed = given.seed ?? Math.floor(Math.random() * 2 ** 32);
      const tally = await playDay({
        api,
        signal,
        speed: given.speed,
        minutes: given.minutes,
        requestsPerHour: given.perHour,
        intake: session.client('scheduling', IntakeServiceService),
        chance: new Chance(seed),
        say: (line) => void (session.json || session.say(line)),
      });
      session.print({ seed, ...tally }, `\n${card(tally)}`);
    });
}
