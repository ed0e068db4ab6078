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
