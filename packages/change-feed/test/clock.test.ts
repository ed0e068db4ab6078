import type { Database } from '@truckroll/postgres';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { ChangeClock } from '../src/clock.ts';

interface Row {
  oldest: number;
  next: number;
  epoch: number;
  at: number;
}

function clock(): { clock: ChangeClock; answers: ((row: Row) => void)[] } {
  const answers: ((row: Row) => void)[] = [];
  const query = () => new Promise((resolve) => answers.push((row) => resolve({ rows: [row] })));
  return { clock: new ChangeClock({ query } as unknown as Database, silentLog, createMetrics('test')), answers };
}

test('a snapshot whose answer is overtaken by a later one does not claim to be complete up to the later time without its changes', async () => {
  const { clock: one, answers } = clock();
  const [earlier, later] = [one.now(), one.now()];
  answers[1]?.({ oldest: 20, next: 20, epoch: 0, at: 2_000_000 });
  expect(await later).toEqual({ epoch: 0, below: 20, asOf: 2_000_000 });
  answers[0]?.({ oldest: 10, next: 10, epoch: 0, at: 1_000_000 });
  expect(await earlier).toEqual({ epoch: 0, below: 20, asOf: 2_000_000 });
});

test('while a transaction is open, the time is that of the last snapshot before it', async () => {
  const { clock: one, answers } = clock();
  const asked = async (row: Row): Promise<number> => {
    const moment = one.now();
    answers.shift()?.(row);
    return (await moment).asOf;
  };
  expect(await asked({ oldest: 10, next: 10, epoch: 0, at: 1_000_000 })).toBe(1_000_000);
  expect(await asked({ oldest: 10, next: 12, epoch: 0, at: 2_000_000 })).toBe(1_000_000);
  expect(await asked({ oldest: 10, next: 14, epoch: 0, at: 3_000_000 })).toBe(1_000_000);
  // The second snapshot does not show what transaction 11 will commit.
  expect(await asked({ oldest: 11, next: 15, epoch: 0, at: 4_000_000 })).toBe(1_000_000);
  expect(await asked({ oldest: 12, next: 16, epoch: 0, at: 5_000_000 })).toBe(2_000_000);
});
