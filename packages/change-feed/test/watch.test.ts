import type { Database } from '@truckroll/postgres';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { ChangeClock } from '../src/clock.ts';
import { ChangeWatch } from '../src/watch.ts';

const AWAITED = [{ company_id: '11111111-1111-4111-8111-111111111111', kinds: ['invoices'], version: 7 }];
const SECONDS = 10;

beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
afterEach(() => jest.useRealTimers());

test('all callers together cause at most four statements a second, and share each look', async () => {
  let [statements, answers] = [0, 0];
  const query = async ({ name }: { name: string }) => {
    statements += 1;
    return { rows: name === 'change_moment' ? [{ oldest: 7, next: 7, epoch: 0, at: 0 }] : [] };
  };
  const database = { query } as unknown as Database;
  const watch = new ChangeWatch(database, new ChangeClock(database, silentLog, createMetrics('test')), []);
  const askAgain = (): void => {
    void watch.find({ awaited: AWAITED }).then(() => {
      answers += 1;
      askAgain();
    });
  };
  for (let caller = 0; caller < 5; caller += 1) askAgain();
  for (let ms = 0; ms < SECONDS * 1000; ms += 10) {
    jest.advanceTimersByTime(10);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(statements).toBeLessThanOrEqual(4 * SECONDS);
  expect(answers).toBeGreaterThanOrEqual(5 * SECONDS);
});
