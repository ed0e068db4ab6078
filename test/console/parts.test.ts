// The console's own computations, without a browser.
import fc from 'fast-check';
import { percent } from '../../gateway/console/src/parts/figures.ts';
import { readJson, type Json } from '../../gateway/console/src/parts/json.ts';
import { tileDollars } from '../../gateway/console/src/parts/money.ts';
import { compare, sumsOf, twoMonths } from '../../gateway/console/src/parts/months.ts';
import { line, scaleTo, stackedBars } from '../../gateway/console/src/parts/plot.ts';
import { toldApart } from '../../gateway/console/src/parts/words.ts';
import { centsIn } from '../../gateway/console/src/screens/money/filters.ts';

function written(json: Json): string {
  if (!('members' in json)) return json.text;
  const members = json.members.map(({ name, value }) => `${name === undefined ? '' : `${name}:`}${written(value)}`).join(',');
  return json.kind === 'object' ? `{${members}}` : `[${members}]`;
}

test('parses JSON without losing a character, whatever its layout', () => {
  fc.assert(
    fc.property(fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue())), fc.constantFrom(0, 2), (value, indent) => {
      expect(written(readJson(JSON.stringify(value, null, indent))!)).toBe(JSON.stringify(value));
    }),
  );
});

test.each(['', '7', '"text"', '{', '[1,]', '{"a":1}}', '{a:1}', '<html>', `${'['.repeat(41)}${']'.repeat(41)}`, `[${'1,'.repeat(20_000)}1]`])(
  'rejects text that is not an object or array, or too large: %.20s',
  (text) => expect(readJson(text)).toBeUndefined(),
);

test('never shows a share below 100 % as 100 %', () => {
  expect([0, 0.5, 0.9928, 0.9999, 1].map(percent)).toEqual(['0.0 %', '50.0 %', '99.3 %', '99.9 %', '100.0 %']);
});

test.each([
  [999_999, '$9,999.99'],
  [1_000_000, '$10,000'],
  [-1_234_550, '\u2212$12,346'],
])('shows cents in a tile below $10,000 only: %i', (cents, text) => {
  expect(tileDollars(cents)).toBe(text);
});

test('stacks bars, keeps low ones visible and inside the chart, and interrupts lines where there is no data', () => {
  const bucket = (delivered: number, failed: number) => ({ startsAt: '', delivered, failed, p50Ms: null, p95Ms: null });
  expect(stackedBars([bucket(50, 25), bucket(0, 0), bucket(1000, 1)], 1001)).toEqual({
    delivered: 'M1 100h8v-5h-8zM21 100h8v-97h-8z',
    failed: 'M1 95h8v-3h-8zM21 3h8v-3h-8z',
  });
  expect(line([null, 50, null, 0, 100], 100)).toBe('M15 50h0.01M35 100h0.01L45 0');
  expect([0, 1, 3, 60, 101].map(scaleTo)).toEqual([1, 1, 5, 100, 200]);
});

test.each([
  ['2026-03-31', '2026-02-01', '2026-04-01'],
  ['2026-03-01', '2026-02-01', '2026-03-02'],
  ['2026-01-15', '2025-12-01', '2026-01-16'],
  ['2027-12-31', '2027-11-01', '2028-01-01'],
])('compares %s with the days from %s on', (today, start, end) => {
  expect(twoMonths(today)).toEqual({ start, end });
});

test('adds up each month, and compares it with the same days of a month that may be shorter', () => {
  const days = (month: string, ...cents: number[]) => cents.map((each, index) => ({ day: `${month}-${String(index + 1).padStart(2, '0')}`, cents: each }));
  const sums = sumsOf([...days('2026-02', 10, 0, 30), ...days('2026-03', 5, 6)], '2026-03-02');
  expect(sums).toEqual({ current: [5, 11], last: [10, 10, 40] });
  expect(compare(sums)).toEqual({ current: 11, lastByNow: 10, last: 40, change: 0.1 });
  expect(compare({ current: [1, 2, 3, 4], last: [8] })).toMatchObject({ lastByNow: 8, change: -0.5 });
  expect(compare({ current: [1], last: [0] })).toEqual({ current: 1, lastByNow: 0, last: 0, change: undefined });
});

test('what differs between technicians of one name follows it', () => {
  const [a, b, c] = ['0199-aaaaaaaa', '0199-bbbbbbbb', '0199-cccccccc'] as const;
  const named = (...of: object[]): string[] => toldApart(of as any).map(({ name }) => name);
  expect(named({ id: a, name: 'Ana' }, { id: b, name: 'Ben' })).toEqual(['Ana', 'Ben']);
  expect(named({ id: a, name: 'Ana', email: 'a@x' }, { id: b, name: 'Ana', email: 'b@x' })).toEqual(['Ana (a@x)', 'Ana (b@x)']);
  const shared = { name: 'Ana', email: 'office@x' };
  expect(named({ id: a, ...shared, phone: '+1' }, { id: b, ...shared, phone: '+2' }, { id: c, ...shared })).toEqual(['Ana (+1)', 'Ana (+2)', 'Ana (cccccccc)']);
});

test('reads amounts in dollars', () => {
  const amounts = { '$1,000.50': 100_050, '1,000': 100_000, '1,234,567.8': 123_456_780, '.5': 50, '0': 0, '999999999': 99_999_999_900 };
  for (const [text, cents] of Object.entries(amounts)) expect([text, centsIn(text)]).toEqual([text, cents]);
  for (const text of ['', '$', '.', '1,00', '1000,000', '1.2345', '-5', '5.', '1e3', '1234567890']) expect([text, centsIn(text)]).toEqual([text, undefined]);
});
