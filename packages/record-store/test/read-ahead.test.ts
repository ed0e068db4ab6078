import { readAhead } from '../src/read-ahead.ts';

async function* coming(...things: (number | Error)[]): AsyncGenerator<number> {
  for (const thing of things) {
    if (typeof thing !== 'number') throw thing;
    yield thing;
  }
}

test('reads exactly one item ahead while the current one is processed', async () => {
  const seen: string[] = [];
  const reading = readAhead(coming(1, 2, 3), (thing) => {
    seen.push(`read ${thing}`);
    return thing;
  });
  for await (const { value, readNext } of reading) {
    readNext();
    readNext();
    if (value < 3) while (!seen.includes(`read ${value + 1}`)) await new Promise((resolve) => setImmediate(resolve));
    seen.push(`dealt with ${value}`);
  }
  expect(seen).toEqual(['read 1', 'read 2', 'dealt with 1', 'read 3', 'dealt with 2', 'dealt with 3']);
});

test('reports a read error only after the items before it were processed', async () => {
  const dealtWith: number[] = [];
  const all = async (): Promise<void> => {
    for await (const { value, readNext } of readAhead(coming(1, 2, new Error('cut off')), (thing) => thing)) {
      readNext();
      await new Promise((resolve) => setTimeout(resolve, 1));
      dealtWith.push(value);
    }
  };
  await expect(all()).rejects.toThrow('cut off');
  expect(dealtWith).toEqual([1, 2]);
});

test('does not wait for an item that never arrives when the consumer stops early', async () => {
  async function* stuck(): AsyncGenerator<number> {
    yield 1;
    await new Promise(() => undefined);
  }
  for await (const { readNext } of readAhead(stuck(), (thing) => thing)) {
    readNext();
    break;
  }
});
