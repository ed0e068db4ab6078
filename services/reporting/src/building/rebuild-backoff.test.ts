import { RebuildBackoff } from './rebuild-backoff.ts';

const COMPANY = '5f1d2c3b-4a59-4687-9b0c-1d2e3f4a5b6c';

function waits(backoff: RebuildBackoff, times: number): number[] {
  let now = 0;
  return Array.from({ length: times }, () => {
    const from = now;
    while (!backoff.isDue(COMPANY, now)) now += 1000;
    backoff.spoiled(COMPANY, now);
    return (now - from) / 1000;
  });
}

test('rebuilds spoiled sums at once the first time, then after increasing delays of up to a minute', () => {
  expect(waits(new RebuildBackoff(), 9)).toEqual([0, 1, 2, 4, 8, 16, 32, 60, 60]);
});

test('rebuilds at once again after ten quiet minutes, and never delays other companies', () => {
  const backoff = new RebuildBackoff();
  waits(backoff, 8);
  expect(backoff.isDue('other', 0)).toBe(true);
  backoff.spoiled('other', 2_000_000);
  expect(waits(backoff, 3)).toEqual([0, 1, 2]);
});

test('measures the delay from the last rebuild, whatever the clock shows', () => {
  const backoff = new RebuildBackoff();
  for (const now of [1e9, 1e9 + 1000]) backoff.spoiled(COMPANY, now);
  expect([backoff.isDue(COMPANY, 1e9 + 2999), backoff.isDue(COMPANY, 1e9 + 3000)]).toEqual([false, true]);
});

test('remembers the delay for exactly ten minutes without a rebuild', () => {
  const spoiledTwice = (later: number): RebuildBackoff => {
    const backoff = new RebuildBackoff();
    backoff.spoiled(COMPANY, 0);
    backoff.spoiled(COMPANY, later);
    return backoff;
  };
  expect([spoiledTwice(600_000).isDue(COMPANY, 601_999), spoiledTwice(600_000).isDue(COMPANY, 602_000)]).toEqual([false, true]);
  expect([spoiledTwice(600_001).isDue(COMPANY, 601_000), spoiledTwice(600_001).isDue(COMPANY, 601_001)]).toEqual([false, true]);
});
