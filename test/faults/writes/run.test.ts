// Runs the checker against the real system with PgBouncer in transaction mode before PostgreSQL, in the shortest run that still has every kind of
// fault. npm run test:faults runs for minutes, also without PgBouncer.
import { silent } from '@truckroll/local-stack';
import { Installation } from '../system/installation.ts';
import { runWrites } from './run.ts';

let installation: Installation;
beforeAll(async () => {
  installation = await Installation.start({ say: silent, without: ['webhook-dispatcher'], pooled: true });
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

test('behind PgBouncer, every acknowledged write has one effect and one event, and its rows record the version of the rules that wrote them', async () => {
  const targets = ['gateway', 'scheduling', 'pgbouncer', 'postgres', 'kafka'];
  const faults = { targets, rounds: 1, gapMs: [200, 1500], awayMs: [20, 500], pauses: 0, atOnce: 2 } as const;
  const { violations, counts } = await runWrites(installation, { seed: 1, writes: 100, clients: 8, visits: 20, thinkMs: 50, notify: 0, faults, say: silent });
  expect(violations).toEqual([]);
  expect(counts['acknowledged']).toBeGreaterThanOrEqual(100);
  expect(await rewritten()).toEqual([0, 0, 0]);
}, 240_000);
