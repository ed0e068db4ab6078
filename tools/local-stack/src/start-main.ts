// `npm start`: the whole system on this machine, in the foreground.
import { stopRequest } from './processes/stop-request.ts';
import { parseArgs } from 'node:util';
import { Problem, runMain } from './problem.ts';
import { STATE } from './folder.ts';
import { start } from './start/start.ts';

const HELP = `npm start [-- --observe --watch]

  --observe   run Prometheus too, which scrapes the system and evaluates the alert rules
  --watch     rebuild and restart each component whose sources change
`;

await runMain(async () => {
  const { observe, watch, help } = optionsOf(process.argv.slice(2));
  if (help) {
    process.stdout.write(HELP);
    return 0;
  }
  return await start({ state: STATE, environment: process.env, observed: observe, watched: watch, stop: stopRequest });
});

function optionsOf(args: readonly string[]): { observe: boolean; watch: boolean; help: boolean } {
  const flag = { type: 'boolean', default: false } as const;
  try {
    return parseArgs({ args: [...args], options: { observe: flag, watch: flag, help: { ...flag, short: 'h' } } }).values;
  } catch (error) {
    throw new Problem(`${(error as Error).message.split('. ')[0]}.\n\n${HELP}`);
  }
}
