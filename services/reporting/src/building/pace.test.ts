import { FactPace } from './pace.ts';

function facts(pace: FactPace, micros: number, times: number): number[] {
  return Array.from({ length: times }, () => {
    const facts = pace.facts('invoices');
    pace.took('invoices', (facts * micros) / 1000);
    return facts;
  });
}

test('adds up more facts at once until that takes most of a second, at most 64,000', () => {
  expect(facts(new FactPace(), 20, 6)).toEqual([4000, 8000, 16_000, 32_000, 32_000, 32_000]);
  expect(facts(new FactPace(), 1, 9).at(-1)).toBe(64_000);
});

test('changes nothing between half and twice the target time', () => {
  expect(facts(new FactPace(), 100, 2)).toEqual([4000, 4000]);
  expect(facts(new FactPace(), 400, 2)).toEqual([4000, 4000]);
});

test('adds up fewer facts at once if that takes far longer, at least a thousand, and paces each kind separately', () => {
  const pace = new FactPace();
  facts(pace, 1, 9);
  expect(facts(pace, 100, 5)).toEqual([64_000, 32_000, 16_000, 16_000, 16_000]);
  expect(facts(pace, 5000, 5).at(-1)).toBe(1000);
  expect(pace.facts('payments')).toBe(4000);
});
