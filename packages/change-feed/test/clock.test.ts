import type { Database } from '@truckroll/postgres';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { ChangeClock } from '../src/clock.ts';
import type { Moment } from '../src/moment.ts';

const { spyOn } = jest;

interface Row {
  oldest: number;
  next: number;
  epoch: number;
  at: number;
}

interface Asked {
  clock: ChangeClock;
  asked(row: Row): Promise<Moment>;
}

/** Answers each query with the row that the test gives. */
function asking(): Asked {
  const { clock: one, answers } = clock();
  return {
    clock: one,
    asked(row) {
      const moment = one.now();
      answers.shift()?.(row);
      return moment;
    },
  };
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
  const { asked: moment } = asking();
  const asked = async (row: Row): Promise<number> => (await moment(row)).asOf;
  expect(await asked({ oldest: 10, next: 10, epoch: 0, at: 1_000_000 })).toBe(1_000_000);
  expect(await asked({ oldest: 10, next: 12, epoch: 0, at: 2_000_000 })).toBe(1_000_000);
  expect(await asked({ oldest: 10, next: 14, epoch: 0, at: 3_000_000 })).toBe(1_000_000);
  // The second snapshot does not show what transaction 11 will commit.
  expect(await asked({ oldest: 11, next: 15, epoch: 0, at: 4_000_000 })).toBe(1_000_000);
  expect(await asked({ oldest: 12, next: 16, epoch: 0, at: 5_000_000 })).toBe(2_000_000);
});

test('a version has the epoch above the transaction’s id', async () => {
  const { asked } = asking();
  expect(await asked({ oldest: 12, next: 12, epoch: 3, at: 5_000_000 })).toEqual({ epoch: 3, below: 30_000_000_000_012, asOf: 5_000_000 });
});

test('while a transaction is open, snapshots within a tenth of a second of the last one are not kept', async () => {
  const { asked } = asking();
  await asked({ oldest: 10, next: 10, epoch: 0, at: 1_000_000 });
  await asked({ oldest: 10, next: 11, epoch: 0, at: 1_099_999 });
  await asked({ oldest: 10, next: 12, epoch: 0, at: 1_100_000 });
  expect(await asked({ oldest: 11, next: 13, epoch: 0, at: 1_150_000 })).toMatchObject({ asOf: 1_000_000 });
  expect(await asked({ oldest: 12, next: 14, epoch: 0, at: 1_160_000 })).toMatchObject({ asOf: 1_100_000 });
});

test('while no transaction is open, every snapshot counts, however soon it follows the last one', async () => {
  const { asked } = asking();
  await asked({ oldest: 10, next: 10, epoch: 0, at: 1_000_000 });
  expect(await asked({ oldest: 10, next: 10, epoch: 0, at: 1_000_001 })).toMatchObject({ asOf: 1_000_001 });
});

test('the delay of the feed is the time since the moment up to which it is complete, or since the start, and never negative', async () => {
  const now = spyOn(Date, 'now').mockReturnValue(100_000);
  try {
    const metrics = createMetrics('test');
    let at = 0;
    const query = async () => ({ rows: [{ oldest: 1, next: 1, epoch: 0, at }] });
    const one = new ChangeClock({ query } as unknown as Database, silentLog, metrics);
    const delay = async (second: number): Promise<number> => {
      now.mockReturnValue(second * 1000);
      return Number(/^change_feed_delay_seconds\{.*\} (\S+)$/m.exec((await metrics.render()).body)?.[1]);
    };
    expect(await delay(103)).toBe(3);
    at = 101_000_000;
    await one.now();
    expect(await delay(103)).toBe(2);
    expect(await delay(99)).toBe(0);
  } finally {
    now.mockRestore();
  }
});
