import fc from 'fast-check';
import { LONGEST_LINE, batches, linesIn, type Batch } from '../src/import/lines.ts';

async function* chunked(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] as number;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function read(text: string, sizes: readonly number[] = [64 * 1024]): Promise<{ batches: Batch[]; lines: string[]; tooLong: number[] }> {
  const tooLong: number[] = [];
  const all: Batch[] = [];
  for await (const batch of batches(linesIn(chunked(Buffer.from(text), sizes)), (line) => tooLong.push(line))) all.push(batch);
  return { batches: all, lines: all.flatMap((batch) => batch.lines.map(String)), tooLong };
}

test('splits the same lines from any division of the file into chunks', async () => {
  const lines = fc.array(
    fc.string({ unit: 'grapheme' }).map((line) => line.replace(/[\r\n\uFEFF]/g, '')),
    { minLength: 1 },
  );
  await fc.assert(
    fc.asyncProperty(lines, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), fc.constantFrom('\n', '\r\n'), async (wanted, sizes, end) => {
      const { lines: found } = await read(wanted.join(end) + end, sizes);
      expect(found).toEqual(wanted);
    }),
    { numRuns: 200 },
  );
});

test('numbers every line, whatever the batches', async () => {
  const { batches: all } = await read(Array.from({ length: 1234 }, (_, index) => `${index + 1}\n`).join(''));
  expect(all.length).toBeGreaterThan(2);
  for (const batch of all) batch.lines.forEach((line, index) => expect(Number(line)).toBe(batch.firstLine + index));
});

test('needs no final line break, finds no line in an empty file, and drops a byte order mark', async () => {
  expect((await read('a\nb')).lines).toEqual(['a', 'b']);
  expect((await read('')).batches).toEqual([]);
  expect((await read('\uFEFFa\n\uFEFFb\n', [1])).lines).toEqual(['a', '\uFEFFb']);
});

test('reports the number of a line that is too long, and numbers those after it correctly', async () => {
  const { batches: all, tooLong } = await read(`a\n${'x'.repeat(LONGEST_LINE + 1)}\nb\n`);
  expect(tooLong).toEqual([2]);
  expect(all.map(({ firstLine, lines }) => [firstLine, lines.map(String)])).toEqual([
    [1, ['a']],
    [3, ['b']],
  ]);
});

test('takes a line of the longest length, in whatever pieces it is read', async () => {
  for (const size of [64 * 1024, LONGEST_LINE, LONGEST_LINE + 1]) {
    const { lines, tooLong } = await read(`${'x'.repeat(LONGEST_LINE)}\nb\n`, [size]);
    expect([lines.map(({ length }) => length), tooLong]).toEqual([[LONGEST_LINE, 1], []]);
  }
});

test('a batch has exactly as many bytes as it may, if its lines do', async () => {
  const half = 256 * 1024;
  const { batches: all } = await read(`${'x'.repeat(half)}\n`.repeat(3));
  expect(all.map(({ lines }) => lines.length)).toEqual([2, 1]);
});

test('limits a batch by lines and by bytes', async () => {
  const { batches: all } = await read(`${'x'.repeat(300_000)}\n`.repeat(4) + 'y\n'.repeat(1001));
  expect(all.map(({ lines }) => lines.length)).toEqual([1, 1, 1, 500, 500, 2]);
  expect(all.at(-1)?.readBytes).toBe(4 * 300_001 + 2002);
});
