import { withTimeout } from '../src/index.ts';

const never = new Promise<never>(() => undefined);

test('resolves with the result of the work', async () => {
  expect(await withTimeout(Promise.resolve(7), 60_000, 'counting')).toBe(7);
});

test('rejects as the work does', async () => {
  await expect(withTimeout(Promise.reject(new Error('no luck')), 60_000, 'counting')).rejects.toThrow('no luck');
});

test('rejects when the time is over, and names the work', async () => {
  await expect(withTimeout(never, 1, 'counting')).rejects.toThrow('counting took longer than 1 ms');
});
