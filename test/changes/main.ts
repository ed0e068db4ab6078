// npm run test:changes: copies kept with the change feed, while everything changes and everything is killed.
import { parseArgs } from 'node:util';
import { Problem, runMain, say } from '@truckroll/local-stack';
import { Chance } from '../../tools/cli/src/simulate/chance.ts';
import { keepEvidence } from '../faults/parts/evidence.ts';
import { describeFaults } from '../faults/parts/report.ts';
import { Installation } from '../faults/system/installation.ts';
import { backUp, restore } from './campaign/backup.ts';
import { commitLate } from './campaign/late-commits.ts';
import { runPhase, threeReaders } from './campaign/run.ts';
import { runSeeded } from './campaign/seeded.ts';
import { makeWorld } from './campaign/world.ts';

const HELP = `npm run test:changes -- [options]

  --only <parts>      of campaign,seeded; both unless given
  --changes <count>   minimum number of acknowledged changes: 200000
  --rounds <count>    how often each process and server is killed or paused in each of three phases: 2
  --jobs <count>      size of the company: 400
  --seed <number>     what writers, readers and faults do follows from it, though not how they interleave: random

Starts the system as npm start does, with servers of its own. Imports, both writes, intake and simulated days change a company;
some transactions are held open before their commit. Three readers with pages of different sizes keep copies, one of them killed
again and again. PostgreSQL is backed up after the first phase, and restored to that backup after the second. After each phase, every
copy must equal an export, and its digests those of the API. Ends with 1 when one does not, or when a bug that was put in on
purpose was not found.
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'campaign,seeded' },
    changes: { type: 'string', default: '200000' },
    rounds: { type: 'string', default: '2' },
    jobs: { type: 'string', default: '400' },
    seed: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const TARGETS = ['gateway', 'scheduling', 'billing', 'integrations', 'reporting', 'postgres', 'kafka', 'redis'];
/** After a kill, Kafka's consumer groups and PostgreSQL's recovery take tens of seconds on a busy machine. */
const SETTLE_MS = 180_000;
const SHOWN = 10;

await runMain(async () => {
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 32) : wholeNumber('seed');
  say(`seed ${seed}`);
  const parts = values.only.split(',');
  if (parts.some((part) => part !== 'campaign' && part !== 'seeded')) throw new Problem('--only takes campaign and seeded.');
  const campaign = parts.includes('campaign') ? await runCampaign(seed) : {};
  const seeded = parts.includes('seeded') ? await runSeeded(seed, say) : {};
  const passed = Object.values(campaign.wrong ?? {}).every((count) => count === 0) && Object.values(seeded).every((count) => count > 0);
  process.stdout.write(`${passed ? 'passed' : 'failed'}\nfigures: ${JSON.stringify({ seed, ...campaign.figures, ...campaign.wrong, ...seeded })}\n`);
  return passed ? 0 : 1;
});

interface Campaign {
  readonly figures?: Record<string, number>;
  readonly wrong?: Record<string, number>;
}

async function runCampaign(seed: number): Promise<Campaign> {
  const startedAt = performance.now();
  const changes = Math.ceil(wholeNumber('changes') / 3);
  say('starting the system …');
  const installation = await Installation.start({ say, without: ['webhook-dispatcher'], environment: { CHANGES_PER_MINUTE: '1000000' } });
  try {
    const world = await makeWorld(installation, wholeNumber('jobs'), new Chance(seed));
    await commitLate(installation.database);
    const faults = { targets: TARGETS, rounds: wholeNumber('rounds'), gapMs: [1000, 9000], awayMs: [50, 2500], pauses: 0.2, atOnce: 2 } as const;
    const readers = threeReaders(installation.folder, { pages: 30, times: Infinity });
    const sums = { changes: 0, pages: 0, reader_kills: 0, kills: 0 };
    const wrong: string[] = [];
    for (const before of [undefined, backUp, restore]) {
      if (before !== undefined) {
        say(before === backUp ? 'backing up …' : 'restoring the backup …');
        await before(installation);
        // What was acknowledged after the backup is gone.
        if (before === restore) for (const acknowledged of Object.values(world.acknowledged)) acknowledged.clear();
      }
      const phase = await runPhase(world, readers, { changes, faults, settleMs: SETTLE_MS, say: (line) => say(`  ${line}`) });
      say(describeFaults(phase.faults));
      sums.changes += phase.changes;
      sums.pages += phase.pages;
      sums.reader_kills += phase.readerKills;
      sums.kills += Object.values(phase.faults).reduce((sum, { kills }) => sum + kills, 0);
      wrong.push(...phase.wrong);
      for (const difference of phase.wrong.slice(0, SHOWN)) say(`    ${difference}`);
    }
    if (wrong.length > 0) say(`  kept in ${keepEvidence(installation, 'changes', { wrong })}`);
    const kinds = { missed: /^(missed|lacked) /, phantom: /^(phantom|held) /, stale: /^stale /, digests: /^digest / };
    const counts = Object.entries(kinds).map(([kind, pattern]) => [kind, wrong.filter((difference) => pattern.test(difference)).length] as const);
    const others = wrong.length - counts.reduce((sum, [, count]) => sum + count, 0);
    return { figures: { ...sums, seconds: Math.round((performance.now() - startedAt) / 1000) }, wrong: { ...Object.fromEntries(counts), others } };
  } finally {
    await installation.close();
  }
}

function wholeNumber(name: 'changes' | 'rounds' | 'jobs' | 'seed'): number {
  const number = Number(values[name]);
  if (!Number.isSafeInteger(number) || number < 0) throw new Problem(`--${name} takes a whole number.`);
  return number;
}
