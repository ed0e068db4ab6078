// The shortest runs of npm run test:faults and npm run test:changes that still have every kind of fault, on one installation with PgBouncer in
// transaction mode before PostgreSQL. Those commands run for minutes, also without PgBouncer.
import { silent } from '@truckroll/local-stack';
import { Chance } from '../../tools/cli/src/simulate/chance.ts';
import { commitLate } from '../changes/campaign/late-commits.ts';
import { runPhase, threeReaders } from '../changes/campaign/run.ts';
import { makeWorld } from '../changes/campaign/world.ts';
import { Installation } from './system/installation.ts';
import { runWrites } from './writes/run.ts';

let installation: Installation;
beforeAll(async () => {
  installation = await Installation.start({ say: silent, without: ['webhook-dispatcher'], pooled: true, environment: { CHANGES_PER_MINUTE: '1000000' } });
}, 120_000);
afterAll(() => installation.close(), 60_000);

const rewritten = async (): Promise<number[]> => {
  const { rows } = await installation.database.query<{ behind: number }>({
    text: `select (select count(*) from scheduling.job_assignments where projection = 0) as behind
      union all select (select count(*) from scheduling.job_appointments where projection = 0)
      union all select (select count(*) from reporting.jobs where projection = 0)`,
  });
  return rows.map(({ behind }) => behind);
};

test('every acknowledged write has one effect and one event, and its rows record the version of the rules that wrote them', async () => {
  const targets = ['gateway', 'scheduling', 'pgbouncer', 'postgres', 'kafka'];
  const faults = { targets, rounds: 1, gapMs: [200, 1500], awayMs: [20, 500], pauses: 0, atOnce: 2 } as const;
  const { violations, counts } = await runWrites(installation, { seed: 1, writes: 100, clients: 8, visits: 20, thinkMs: 50, notify: 0, faults, say: silent });
  expect(violations).toEqual([]);
  expect(counts['acknowledged']).toBeGreaterThanOrEqual(100);
  expect(await rewritten()).toEqual([0, 0, 0]);
}, 240_000);

test('three copies equal an export while transactions commit late and a service and a reader are killed', async () => {
  const world = await makeWorld(installation, 20, new Chance(1));
  await commitLate(installation.database);
  const faults = { targets: ['scheduling'], rounds: 1, gapMs: [1000, 2000], awayMs: [20, 500], pauses: 0, atOnce: 1 } as const;
  const readers = threeReaders(installation.folder, { pages: 10, times: 1 });
  const { changes, readerKills, wrong } = await runPhase(world, readers, { changes: 1000, faults, settleMs: 30_000, say: silent });
  expect(wrong).toEqual([]);
  expect(changes).toBeGreaterThanOrEqual(1000);
  expect(readerKills).toBe(1);
}, 240_000);
