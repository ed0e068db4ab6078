import { ExchangeTime } from '../src/send/exchange-time.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test.each<[string, (work: PromiseWithResolvers<void>) => void]>([
  ['ends', ({ resolve }) => resolve()],
  ['fails', ({ reject }) => reject(new Error('no connection'))],
])('an exchange on hold has the time that it had left when the hold %s', async (_, settle) => {
  const time = new ExchangeTime(1000);
  await jest.advanceTimersByTimeAsync(600);
  const work = Promise.withResolvers<void>();
  const held = time.hold(work.promise).catch(() => undefined);
  await jest.advanceTimersByTimeAsync(10_000);
  settle(work);
  await held;
  await jest.advanceTimersByTimeAsync(399);
  expect(time.signal.aborted).toBe(false);
  await jest.advanceTimersByTimeAsync(1);
  expect(time.signal.reason).toMatchObject({ kind: 'ATTEMPT_ERROR_TIMEOUT', message: 'Timed out after 1 s.' });
});

test('an exchange that has ended is not aborted later', async () => {
  const time = new ExchangeTime(1000);
  time.stop();
  await jest.advanceTimersByTimeAsync(10_000);
  expect(time.signal.aborted).toBe(false);
});
