// Runs the checker against the real system, in the shortest run that still has every kind of fault. npm run test:faults runs for minutes.
import { silent } from '@truckroll/local-stack';
import { Installation } from '../system/installation.ts';
import { runWrites } from './run.ts';

let installation: Installation;
beforeAll(async () => {
  installation = await Installation.start({ say: silent, without: ['webhook-dispatcher'] });
}, 120_000);
afterAll(() => installation.close(), 60_000);

test('keeps writes, publishes each once and answers repeats alike while processes are killed', async () => {
  const faults = { targets: ['gateway', 'scheduling', 'postgres', 'kafka'], rounds: 1, gapMs: [200, 1500], awayMs: [20, 500], pauses: 0, atOnce: 2 } as const;
  const { violations, counts } = await runWrites(installation, { seed: 1, writes: 100, clients: 8, visits: 20, thinkMs: 50, notify: 0, faults, say: silent });
  expect(violations).toEqual([]);
  expect(counts['acknowledged']).toBeGreaterThanOrEqual(100);
}, 240_000);
