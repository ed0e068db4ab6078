import type { DeadLetter } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { silentLog } from '@truckroll/telemetry';
import { deadLetters } from '../src/events/dead-letters.ts';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'performance'] }));
afterEach(() => jest.useRealTimers());

test('reads each letter once, oldest first, and again only if it could not be resumed', async () => {
  const letters = [1, 2, 3].map((id) => ({ id }) as DeadLetter);
  const resumed: number[][] = [];
  let isDown = true;
  const part = deadLetters({
    read: async ({ after }) => ({ letters: letters.filter(({ id }) => id > after).slice(0, 2) }),
    resume: async (some) => {
      resumed.push(some.map(({ id }) => id));
      if (isDown) throw new Error('integrations is down');
    },
    log: silentLog,
  });
  await part.start();
  await jest.advanceTimersByTimeAsync(0);
  expect(resumed).toEqual([[1, 2]]);
  isDown = false;
  await jest.advanceTimersByTimeAsync(9_999);
  expect(resumed).toHaveLength(1);
  await jest.advanceTimersByTimeAsync(1);
  expect(resumed.slice(1)).toEqual([[1, 2], [3]]);
  letters.push({ id: 4 } as DeadLetter);
  await jest.advanceTimersByTimeAsync(10_000);
  expect(resumed.slice(3)).toEqual([[4]]);
  await part.stop();
});
