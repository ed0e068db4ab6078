// A program runs from its bundle if the bundle is up to date, else from its modules. Uses a separate checkout with the real scripts, and a
// service and a gateway of one module each.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from '@truckroll/local-stack';

const checkout = realpathSync(mkdtempSync(join(tmpdir(), 'bundles-')));
afterAll(() => rmSync(checkout, { recursive: true }));

const PROGRAM = 'services/trial/src/main.ts';
const WORD = 'services/trial/src/word.ts';

function write(path: string, text: string): void {
  const file = join(checkout, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  // Sources must be older than what is built from them.
  utimesSync(file, 1, 1);
}

beforeAll(() => {
  for (const path of ['scripts/bundles.mjs', 'scripts/as-noted.mjs', 'deploy/bundle.mjs']) {
    mkdirSync(join(checkout, dirname(path)), { recursive: true });
    cpSync(join(ROOT, path), join(checkout, path), { preserveTimestamps: true });
  }
  write('gateway/package.json', '{}');
  symlinkSync(join(ROOT, 'gateway/node_modules'), join(checkout, 'gateway/node_modules'));
  write('pnpm-lock.yaml', '');
  write('gateway/src/main.ts', '');
  write(WORD, `export const word: string = 'first';`);
  write(PROGRAM, `import { word } from './word.ts'; console.log(word, import.meta.filename);`);
});

function node(...args: string[]): string {
  return execFileSync(process.execPath, args, {
    cwd: checkout,
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();
}

const bundle = () => node('-e', `import('./scripts/bundles.mjs').then(({ bundleSystem }) => bundleSystem())`);
const bundleOf = () => node('-e', `import('./scripts/bundles.mjs').then(({ bundleOf }) => console.log(bundleOf('${PROGRAM}')))`);
const BUNDLE = join(checkout, 'node_modules/.cache/bundles/system/services/trial/src/main.mjs');
/** Even in a bundle, `import.meta` refers to the original module, so that it finds the files next to it. */
const says = (word: string) => `${word} ${join(checkout, PROGRAM)}`;

test('runs from a bundle once there is one, until one of its modules changes', () => {
  expect(bundleOf()).toBe('undefined');
  bundle();
  expect(bundleOf()).toBe(BUNDLE);
  expect(node(BUNDLE)).toBe(says('first'));
  write(WORD, `export const word: string = 'second, and longer';`);
  expect(bundleOf()).toBe('undefined');
  bundle();
  expect(bundleOf()).toBe(BUNDLE);
  expect(node(BUNDLE)).toBe(says('second, and longer'));
});

test('reports modules that cannot be bundled, and does not run an older bundle', () => {
  write(WORD, 'export const word: string =');
  expect(bundle).toThrow(/word\.ts/);
  expect(bundleOf()).toBe('undefined');
});
