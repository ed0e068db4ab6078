// npm run bench:start: how long the whole system takes to start, compared with Kafka alone.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { STATE, runMain, say } from '@truckroll/local-stack';
import { median } from './measure/rounds.ts';
import { rounded } from './measure/report.ts';
import { kafkaAlone } from './start/kafka-alone.ts';
import { whileStarted } from './start/whole.ts';

const HELP = `npm run bench:start -- [--rounds 5]

Prints, in seconds, medians of rounds in turn, until each can be used:
  kafka        Kafka alone, as npm start starts it, with the data of the installation of again
  kafka_plain  the same with the options of Kafka's own scripts
  again        npm start with packages and an installation that was there before
  first        npm start with packages and no installation yet, demo companies included
again and first begin with npm and end when ready.json is written.
`;
const FOLDER = join(STATE, 'benchmarks-start');

const { values: options } = parseArgs({ options: { rounds: { type: 'string', default: '5' }, help: { type: 'boolean', default: false } } });

await runMain(async () => {
  process.stdout.write(options.help ? HELP : `figures: ${JSON.stringify(await inTurn(Number(options.rounds)))}\n`);
  return 0;
});

function started(folder: string): Promise<number> {
  return whileStarted(folder, async (_, seconds) => seconds);
}

async function inTurn(rounds: number): Promise<Record<string, number>> {
  const kept = join(FOLDER, 'kept');
  const fresh = join(FOLDER, 'fresh');
  const kinds: Record<string, () => Promise<number>> = {
    kafka: () => kafkaAlone(kept, 'ours'),
    kafka_plain: () => kafkaAlone(kept, 'plain'),
    again: () => started(kept),
    first: () => {
      rmSync(fresh, { recursive: true, force: true });
      return started(fresh);
    },
  };
  // The first start creates the installation and fills the page cache.
  say(`the first of all, which does not count: ${(await started(kept)).toFixed(1)} s`);
  const seconds = new Map<string, number[]>(Object.keys(kinds).map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, run] of Object.entries(kinds)) seconds.get(name)!.push(await run());
    say([...seconds].map(([name, all]) => `${name} ${all.at(-1)!.toFixed(1)} s`).join(', '));
  }
  const of = (name: string): number => median(seconds.get(name)!);
  return {
    ...Object.fromEntries(Object.keys(kinds).map((name) => [`${name}_seconds`, rounded(of(name))])),
    start_by_kafka: rounded(of('again') / of('kafka')),
    start_by_kafka_plain: rounded(of('again') / of('kafka_plain')),
    first_by_kafka: rounded(of('first') / of('kafka')),
  };
}
