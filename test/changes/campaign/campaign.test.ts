// The short form of npm run test:changes.
import { silent } from '@truckroll/local-stack';
import { Chance } from '../../../tools/cli/src/simulate/chance.ts';
import { Installation } from '../../faults/system/installation.ts';
import { commitLate } from './late-commits.ts';
import { runPhase, threeReaders } from './run.ts';
import { makeWorld } from './world.ts';

let installation: Installation;
beforeAll(async () => {
  installation = await Installation.start({ say: silent, without: ['webhook-dispatcher'], environment: { CHANGES_PER_MINUTE: '1000000' } });
}, 120_000);
afterAll(() => installation.close(), 60_000);

test('keeps three copies equal to an export while transactions commit late and a service and a reader are killed', async () => {
  const world = await makeWorld(installation, 20, new Chance(1));
  await commitLate(installation.database);
  const faults = { targets: ['scheduling'], rounds: 1, gapMs: [1000, 2000], awayMs: [20, 500], pauses: 0, atOnce: 1 } as const;
  const readers = threeReaders(installation.folder, { pages: 10, times: 1 });
  const { changes, readerKills, wrong } = await runPhase(world, readers, { changes: 1000, faults, settleMs: 30_000, say: silent });
  expect(wrong).toEqual([]);
  expect(changes).toBeGreaterThanOrEqual(1000);
  expect(readerKills).toBe(1);
}, 240_000);
