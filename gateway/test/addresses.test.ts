import { AddressCounts } from '../src/http/addresses.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test('counts the requests of an address for a minute from the first one, and then anew', () => {
  const counts = new AddressCounts();
  expect([counts.isEmpty, counts.of('192.0.2.1')]).toEqual([true, 0]);
  expect(counts.add('192.0.2.1')).toEqual({ count: 1, resetSeconds: 60 });
  jest.advanceTimersByTime(59_999);
  expect([counts.of('192.0.2.1'), counts.of('192.0.2.2')]).toEqual([1, 0]);
  expect(counts.add('192.0.2.1')).toEqual({ count: 2, resetSeconds: 1 });
  jest.advanceTimersByTime(1);
  expect(counts.of('192.0.2.1')).toBe(0);
  expect(counts.add('192.0.2.1')).toEqual({ count: 1, resetSeconds: 60 });
});
