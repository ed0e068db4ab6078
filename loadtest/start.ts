// npm run bench:start: how long the whole system takes to start, compared with Kafka alone, and the command line, compared with Node alone.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { STATE, say } from '@truckroll/local-stack';
import { rounded } from './measure/report.ts';
import { inTurn, median } from './measure/turns.ts';
import { builtCommandLine, nodeSeconds } from './start/command-line.ts';
import { kafkaAlone } from './start/kafka-alone.ts';
import { whileStarted } from './start/whole.ts';
import { runCommand } from './system/benchmark.ts';

const HELP = `npm run bench:start -- [--rounds 5]

Prints, in seconds, medians of rounds in turn, until each can be used:
  kafka_plain  Kafka alone with the options of Kafka's own scripts, with the data of the installation of again
  again        npm start with packages and an installation that was there before
  first        npm start with packages and no installation yet, demo companies included
  node         node -e 0
  command_line \`truckroll list invoices --help\` of the integrators' command line, as published; at most three times node
again and first begin with npm and end when ready.json is written.
`;
const FOLDER = join(STATE, 'benchmarks-start');

await runCommand({
  help: HELP,
  numbers: { rounds: 5 },
  async run({ rounds }) {
    const kept = join(FOLDER, 'kept');
    const fresh = join(FOLDER, 'fresh');
    // The first start creates the installation and fills the page cache.
    say(`the first of all, which does not count: ${(await started(kept)).toFixed(1)} s`);
    const commandLine = builtCommandLine(join(FOLDER, 'command-line'));
    const seconds = await inTurn(rounds, {
      kafka_plain: () => kafkaAlone(kept),
      again: () => started(kept),
      first: () => {
        rmSync(fresh, { recursive: true, force: true });
        return started(fresh);
      },
      node: async () => nodeSeconds(['-e', '0']),
      command_line: async () => nodeSeconds(commandLine),
    });
    say(JSON.stringify(seconds));
    const medians = Object.entries(seconds).map(([name, all]) => [`${name}_seconds`, rounded(median(all))] as const);
    return {
      ...Object.fromEntries(medians),
      start_by_kafka_plain: rounded(median(seconds.again) / median(seconds.kafka_plain)),
      command_line_by_node: rounded(median(seconds.command_line) / median(seconds.node)),
    };
  },
});

function started(folder: string): Promise<number> {
  return whileStarted(folder, async (_, seconds) => seconds);
}
