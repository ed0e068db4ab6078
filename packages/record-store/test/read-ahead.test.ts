// What a stream brings while something of it is being dealt with.
import { readAhead } from '../src/read-ahead.ts';

async function* coming(...things: (number | Error)[]): AsyncGenerator<number> {
  for (const thing of things) {
    if (typeof thing !== 'number') throw thing;
    yield thing;
  }
}

test('the next thing is read while one is dealt with, once, and no further one', async () => {
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

test('what cannot be read is told after what came before it was dealt with', async () => {
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

test('who stops in the middle does not wait for what never comes', async () => {
  async function* stuck(): AsyncGenerator<number> {
    yield 1;
    await new Promise(() => undefined);
  }
  for await (const { readNext } of readAhead(stuck(), (thing) => thing)) {
    readNext();
    break;
  }
});
