import { Patience } from './patience.ts';

const COMPANY = '5f1d2c3b-4a59-4687-9b0c-1d2e3f4a5b6c';

/** Seconds until each of the next rebuilds, if sums are spoiled again every time. */
function waits(patience: Patience, times: number): number[] {
  let now = 0;
  return Array.from({ length: times }, () => {
    const from = now;
    while (!patience.isDue(COMPANY, now)) now += 1000;
    patience.spoiled(COMPANY, now);
    return (now - from) / 1000;
  });
}

test('rebuilds spoiled sums at once the first time, then after increasing delays of up to a minute', () => {
  expect(waits(new Patience(), 9)).toEqual([0, 1, 2, 4, 8, 16, 32, 60, 60]);
});

test('rebuilds at once again after ten quiet minutes, and never delays other companies', () => {
  const patience = new Patience();
  waits(patience, 8);
  expect(patience.isDue('other', 0)).toBe(true);
  patience.spoiled('other', 2_000_000);
  expect(waits(patience, 3)).toEqual([0, 1, 2]);
});

test('measures the delay from the last rebuild, whatever the clock shows', () => {
  const patience = new Patience();
  for (const now of [1e9, 1e9 + 1000]) patience.spoiled(COMPANY, now);
  expect([patience.isDue(COMPANY, 1e9 + 2999), patience.isDue(COMPANY, 1e9 + 3000)]).toEqual([false, true]);
});

test('remembers the delay for exactly ten minutes without a rebuild', () => {
  const spoiledTwice = (later: number): Patience => {
    const patience = new Patience();
    patience.spoiled(COMPANY, 0);
    patience.spoiled(COMPANY, later);
    return patience;
  };
  expect([spoiledTwice(600_000).isDue(COMPANY, 601_999), spoiledTwice(600_000).isDue(COMPANY, 602_000)]).toEqual([false, true]);
  expect([spoiledTwice(600_001).isDue(COMPANY, 601_000), spoiledTwice(600_001).isDue(COMPANY, 601_001)]).toEqual([false, true]);
});
