import { NO_COMPANY, RecentCompanies } from '../src/recent-companies.ts';

beforeEach(() => void jest.useFakeTimers({ now: 0 }));
afterEach(() => void jest.useRealTimers());

function noted(...names: string[]): RecentCompanies {
  const recent = new RecentCompanies();
  for (const name of names) {
    jest.advanceTimersByTime(100);
    recent.note(name);
  }
  return recent;
}

test.each([
  [[], 'a', false],
  [['a'], 'a', false],
  [['a', 'a'], 'a', false],
  [['a'], 'b', true],
  [['a', 'b'], 'a', true],
  [['a', 'b'], 'b', true],
  [['a', 'b', 'a', 'a'], 'a', true],
  [['a', 'b', 'c'], 'c', true],
  [['a'], NO_COMPANY, true],
  [[], NO_COMPANY, false],
  [[NO_COMPANY], 'a', false],
  [['a', NO_COMPANY], 'a', false],
])('after requests of %j, another company than %j is active: %p', (names, name, expected) => {
  expect(noted(...names).isAnyBut(name)).toBe(expected);
});

test('counts a company as active for a second after its last request', () => {
  const recent = noted('a', 'b', 'a');
  jest.advanceTimersByTime(899);
  expect([recent.isAnyBut('a'), recent.isAnyBut('b')]).toEqual([true, true]);
  jest.advanceTimersByTime(1);
  expect([recent.isAnyBut('a'), recent.isAnyBut('b')]).toEqual([false, true]);
  jest.advanceTimersByTime(99);
  expect(recent.isAnyBut('b')).toBe(true);
  jest.advanceTimersByTime(1);
  expect(recent.isAnyBut('b')).toBe(false);
});
