import { positiveInteger } from '@truckroll/integrator-cli/terminal/arguments';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import type { Command } from 'commander';
import { seedNumber } from '../arguments.ts';
import type { Session } from '../session.ts';
import { card } from '@truckroll/integrator-cli/terminal/table';

interface Given {
  speed: number;
  minutes: number;
  perHour: number;
  seed?: number;
  url?: string;
  key?: string;
}

const HELP = `
Service requests arrive, are answered and booked onto existing visits. Technicians are added to these visits and removed
through the public API, with idempotency keys and revisions. The records are permanent, so use a demo company. Ctrl-C ends the
day after the current work is finished.

Examples:
  truckroll simulate                                     # eight hours in eight minutes
  truckroll simulate --speed 1 --minutes 30              # half an hour in real time
  truckroll simulate --speed 600 --per-hour 2000         # load`;

export function register(program: Command, session: Session): void {
  program
    .command('simulate')
    .description('Simulate a working day of a demo company.')
    .option('--speed <number>', 'how many times faster than real time', positiveInteger, 60)
    .option('--minutes <number>', 'length of the day in simulated minutes', positiveInteger, 480)
    .option('--per-hour <number>', 'service requests in a simulated hour', positiveInteger, 20)
    .option('--seed <number>', 'seed of the day; random by default', seedNumber)
    .option('--url <url>', 'address of the API')
    .option('--key <key>', 'deprecated: set TRUCKROLL_API_KEY, or TRUCKROLL_API_KEY_FILE; default: the demo company’s')
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
