import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { ROOT } from '@truckroll/local-stack';
import { isAsNoted, note } from '../scripts/as-noted.mjs';

const cache = join(ROOT, 'node_modules/.cache');
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, 'as-noted-'));
const name = `test ${basename(folder)}`;
const source = join(folder, 'source.ts');
const made = join(folder, 'gen.js');
afterAll(() => {
  rmSync(folder, { recursive: true });
  rmSync(join(cache, 'noted', `${name}.json`), { force: true });
});

function noteAll(beganAt = Date.now()) {
  const below = (path: string) => relative(ROOT, path);
  note(name, { sources: [source, folder].map(below), made: [below(made)], beganAt });
}

beforeEach(() => {
  writeFileSync(source, 'one');
  writeFileSync(made, 'of one');
  utimesSync(source, 1, 1);
  noteAll();
});

test('accepts the output while files and folders are unchanged', () => {
  expect(isAsNoted(name)).toBe(true);
  expect(isAsNoted(`${name} of another`)).toBe(false);
});

test.each<[string, () => void]>([
  ['a source was written again', () => writeFileSync(source, 'two')],
  ['a source is gone', () => rmSync(source)],
  ['what was made is gone', () => rmSync(made)],
  ['a folder has a file more', () => writeFileSync(join(folder, 'another.ts'), '')],
])('generates again when %s', (_, change) => {
  change();
  expect(isAsNoted(name)).toBe(false);
});

test('generates again when a source was written during generation', () => {
  writeFileSync(source, 'two');
  noteAll(1);
  expect(isAsNoted(name)).toBe(false);
});
