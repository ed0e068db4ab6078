import { shareOf } from '../src/share.ts';

const NOW = Date.parse('2026-03-11T00:00:00Z');
const at = (created_at: string) => ({ created_at });

test('estimates the share of a list by age from the time between its first record and now', () => {
  const first = at('2026-03-01T00:00:00Z');
  expect(shareOf('created_at', first, at('2026-03-06T00:00:00.000001Z'), NOW)).toBeCloseTo(0.5);
  expect(shareOf('created_at', first, at('2026-03-11T00:00:00Z'), NOW)).toBe(1);
});

test('estimates the share of a list by id from the value of the id', () => {
  expect(shareOf('id', undefined, { id: '40000000-0000-4000-8000-000000000000' }, NOW)).toBe(0.25);
  expect(shareOf('id', undefined, { id: 'ffffffff-0000-4000-8000-000000000000' }, NOW)).toBeCloseTo(1);
});

test('estimates nothing from an empty list, its first record alone, a time in the future, or an invalid id', () => {
  const first = at('2026-03-01T00:00:00Z');
  expect(shareOf('created_at', undefined, undefined, NOW)).toBeUndefined();
  expect(shareOf('created_at', first, first, NOW)).toBeUndefined();
  expect(shareOf('created_at', first, at('2026-04-01T00:00:00Z'), NOW)).toBeUndefined();
  expect(shareOf('id', undefined, { id: 'SERVICE' }, NOW)).toBeUndefined();
});
