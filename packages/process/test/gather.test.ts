import { gather } from '../src/gather.ts';

function calls() {
  const made: { items: readonly number[]; end(results: readonly string[]): void; fail(error: Error): void }[] = [];
  const work = (items: readonly number[]) => new Promise<readonly string[]>((end, fail) => void made.push({ items, end, fail }));
  return { made, work };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('items that arrive during a call go into the next, in order, up to its capacity', async () => {
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
  expect(made[3]!.items).toEqual([20]);
  made[3]!.end(['f']);
  expect(await Promise.all(results)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
});

test('a failed call fails its items, and the next call is still made', async () => {
  const { made, work } = calls();
  const give = gather(() => 0.5, work);
  const results = [1, 2, 3].map((n) => give(n).catch((error: Error) => error.message));
  await turn();
  made[0]!.fail(new Error('away'));
  await turn();
  made[1]!.end(['c']);
  expect(await Promise.all(results)).toEqual(['away', 'away', 'c']);
});

test('a call with little to carry waits for more items, one with enough does not', async () => {
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
