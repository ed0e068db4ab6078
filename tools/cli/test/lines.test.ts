import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { planImport } from '../src/import/files.ts';
import { LONGEST_LINE, batches, batchesOf, linesIn, type Batch } from '../src/import/lines.ts';

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

test('needs no final line break, finds no line in an empty file, and drops byte order marks, which concatenated files have in the middle', async () => {
  expect((await read('a\nb')).lines).toEqual(['a', 'b']);
  expect((await read('')).batches).toEqual([]);
  expect((await read('\uFEFFa\n\uFEFFb\n\uFEFF', [1])).lines).toEqual(['a', 'b', '']);
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

describe('a file', () => {
  const PACKED = 'accounts.ndjson.gz';
  let folder: string;
  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'truckroll-lines-'))));
  afterAll(() => rmSync(folder, { recursive: true }));

  async function readFile(content: string | Buffer, name = PACKED) {
    writeFileSync(join(folder, name), content);
    const problems: string[] = [];
    const lines: string[] = [];
    const [input] = planImport([join(folder, name)]).inputs;
    for await (const batch of batchesOf(input!, (line, code, message) => problems.push(`${line} ${code} ${message}`))) lines.push(...batch.lines.map(String));
    return { lines, problems };
  }
  const some = Array.from({ length: 3000 }, (_, n) => `${n} ${randomBytes(100).toString('hex')}`);
  const packed = gzipSync(`${some.join('\n')}\n`);

  test.each<[string, string | Buffer, string]>([
    ['compressed', packed, PACKED],
    ['compressed in two parts', Buffer.concat([gzipSync(`${some[0]}\n`), gzipSync(some.slice(1).join('\n'))]), PACKED],
    ['unpacked by a browser, which keeps the name', some.join('\n'), PACKED],
    ['compressed and padded with zeros', Buffer.concat([packed, Buffer.alloc(40_000)]), PACKED],
    ['compressed without saying so', packed, 'accounts.ndjson'],
  ])('that is %s is read whole', async (_, content, name) => {
    expect(await readFile(content, name)).toEqual({ lines: some, problems: [] });
  });

  const few = gzipSync(`${some.slice(0, 40).join('\n')}\n`);
  const damaged = Buffer.concat([few.subarray(0, 10), Buffer.alloc(few.length - 10, 0xff)]);
  test.each<[string, Buffer, RegExp, number]>([
    ['ends early', packed.subarray(0, packed.length >> 1), /^\d+ UNREADABLE The file cannot be read from here on: the gzip file ends early/, 1400],
    ['is damaged', Buffer.concat([packed.subarray(0, -8), Buffer.alloc(8)]), /^\d+ UNREADABLE .* the gzip file is damaged \(incorrect data check\)/, 3000],
    ['is followed by something else', Buffer.concat([packed, Buffer.from('{}\n')]), /UNREADABLE .* the gzip file is damaged/, 3000],
    ['is followed by text after 40 lines', Buffer.concat([few, Buffer.from('garbage after')]), /\(incorrect header check\)/, 40],
    ['has a wrong checksum after 40 lines', Buffer.concat([few.subarray(0, -8), Buffer.alloc(8)]), /\(incorrect data check\)/, 40],
    ['has a damaged part after 40 lines', Buffer.concat([few, damaged]), /\(invalid block type\)/, 40],
  ])('that is compressed and %s is read up to there, without a part of a line', async (_, content, problem, atLeast) => {
    const { lines, problems } = await readFile(content);
    expect(problems).toEqual([expect.stringMatching(problem)]);
    expect(lines).toEqual(some.slice(0, Math.max(atLeast, lines.length)));
    expect(Number.parseInt(problems[0]!)).toBe(lines.length + 1);
  });

  test('whose compressed content is only one letter is given up soon', async () => {
    const bomb = Buffer.concat(Array<Buffer>(20).fill(gzipSync('x'.repeat(4 * 1024 * 1024))));
    expect(await readFile(bomb)).toEqual({ lines: [], problems: [expect.stringMatching(/^1 UNREADABLE .* it unpacks to more than 200 times its size/)] });
  });
});
