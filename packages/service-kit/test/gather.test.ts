import { gather } from '../src/gather.ts';

/** Calls that the test ends, in the order in which they were made. */
function calls() {
  const made: { items: readonly number[]; end(results: readonly string[]): void; fail(error: Error): void }[] = [];
  const work = (items: readonly number[]) => new Promise<readonly string[]>((end, fail) => void made.push({ items, end, fail }));
  return { made, work };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('what comes while a call is made goes with the next, in order, as much as one carries', async () => {
  const { made, work } = calls();
  const give = gather((n: number) => n / 10, work);
  const results = [1, 2].map(give);
  await turn();
  expect(made.map(({ items }) => items)).toEqual([[1, 2]]);
  results.push(...[3, 4, 5, 20].map(give));
  await turn();
  expect(made).toHaveLength(1);
  made[0]!.end(['a', 'b']);
  await turn();
  expect(made[1]!.items).toEqual([3, 4]);
  made[1]!.end(['c', 'd']);
  await turn();
  expect(made[2]!.items).toEqual([5]);
  made[2]!.end(['e']);
  await turn();
  // Alone, as it is more than a call carries; but it is made.
  expect(made[3]!.items).toEqual([20]);
  made[3]!.end(['f']);
  expect(await Promise.all(results)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
});

test('a call that fails fails for its items, and the next is made all the same', async () => {
  const { made, work } = calls();
  const give = gather(() => 0.5, work);
  const results = [1, 2, 3].map((n) => give(n).catch((error: Error) => error.message));
  await turn();
  made[0]!.fail(new Error('away'));
  await turn();
  made[1]!.end(['c']);
  expect(await Promise.all(results)).toEqual(['away', 'away', 'c']);
});

test('a call that would carry little waits for what comes later, one that carries enough does not', async () => {
  const { made, work } = calls();
  const give = gather((n: number) => n / 10, work, { ms: 50, enough: 0.5 });
  const results = [give(1)];
  await turn();
  expect(made).toHaveLength(0);
  results.push(give(2));
  while (made.length === 0) await turn();
  expect(made[0]!.items).toEqual([1, 2]);
  made[0]!.end(['a', 'b']);
  results.push(...[2, 3].map(give));
  await turn();
  expect(made[1]!.items).toEqual([2, 3]);
  made[1]!.end(['c', 'd']);
  expect(await Promise.all(results)).toEqual(['a', 'b', 'c', 'd']);
});
