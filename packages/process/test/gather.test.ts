import { currentRequest, onBehalfOf } from '@truckroll/telemetry';
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

test('a call with one item is made on behalf of its request, a larger one and one without a request on behalf of none', async () => {
  const requests: (string | undefined)[] = [];
  const give = gather(
    (n: number) => n / 10,
    async (items) => {
      requests.push(currentRequest()?.requestId);
      return items;
    },
  );
  const as = (requestId: string, n: number) => onBehalfOf({ requestId, traceparent: undefined }, () => give(n));
  await as('one', 10);
  await Promise.all([as('two', 5), as('three', 5), as('four', 10)]);
  await give(1);
  expect(requests).toEqual(['one', undefined, 'four', undefined]);
});

test('a call carries exactly its capacity', async () => {
  const { made, work } = calls();
  const results = [1, 2, 4, 3, 1].map(gather((n: number) => n / 10, work));
  await turn();
  expect(made.map(({ items }) => items)).toEqual([[1, 2, 4, 3]]);
  made[0]!.end(['a', 'b', 'c', 'd']);
  await turn();
  made[1]!.end(['e']);
  expect(await Promise.all(results)).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('a call carries as many items as fit, although the sum of their fractions is not exact', async () => {
  const { made, work } = calls();
  const results = Array.from({ length: 11 }, (_, index) => index).map(gather(() => 1 / 10 + 1e-12, work));
  await turn();
  made[0]!.end([]);
  await turn();
  made[1]!.end([]);
  await Promise.all(results);
  expect(made.map(({ items }) => items.length)).toEqual([10, 1]);
});

test('a call with exactly enough waits for no more', async () => {
  const { made, work } = calls();
  const results = [1, 2].map(gather((n: number) => n / 10, work, { ms: 3_600_000, enough: 0.3 }));
  await turn();
  expect(made.map(({ items }) => items)).toEqual([[1, 2]]);
  made[0]!.end(['a', 'b']);
  expect(await Promise.all(results)).toEqual(['a', 'b']);
});
