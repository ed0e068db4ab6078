// The bundles that npm start runs. Uses a separate checkout with the real scripts, and a service and a gateway of one module each.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from '@truckroll/local-stack';

const checkout = realpathSync(mkdtempSync(join(tmpdir(), 'bundles-')));
afterAll(() => rmSync(checkout, { recursive: true }));

const PROGRAM = 'services/trial/src/main.ts';
const SCHEMA = 'services/trial/src/schema.ts';
const MIGRATION = 'services/trial/migrations/0001_trial.sql';
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
  write(MIGRATION, 'first');
  write(
    SCHEMA,
    `import { readFileSync } from 'node:fs'; export const sql: string = readFileSync(new URL('../migrations/0001_trial.sql', import.meta.url), 'utf8');`,
  );
  write(PROGRAM, `import { word } from './word.ts'; import { sql } from './schema.ts'; console.log(word, sql);`);
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
const run = () => node(join(checkout, 'node_modules/.cache/bundles/system/trial.mjs'));
const rebundle = `import('./scripts/bundles.mjs').then(({ rebundler }) => rebundler('${PROGRAM}', '${join(checkout, 'watched')}'))`;

test('bundles again once a module or a file that modules read has changed, and keeps both as they were until then', () => {
  bundle();
  expect(run()).toBe('first first');
  write(WORD, `export const word: string = 'second, and longer';`);
  write(MIGRATION, 'second, and longer');
  expect(run()).toBe('first first');
  bundle();
  expect(run()).toBe('second, and longer second, and longer');
  write(MIGRATION, 'third');
  bundle();
  expect(run()).toBe('second, and longer third');
});

const rebuilt = () => node('-e', `${rebundle}.then(async ({ build, dispose }) => { console.log((await build()).script); await dispose(); })`);

test('a bundle built for npm start -- --watch also keeps the files that modules read', () => {
  const script = rebuilt();
  const before = node(script);
  write(MIGRATION, 'fourth');
  expect(node(script)).toBe(before);
});

test('a bundle built for npm start -- --watch imports packages from where they are installed', () => {
  const installed = 'services/trial/node_modules/installed';
  write(`${installed}/package.json`, '{ "name": "installed" }');
  write(`${installed}/index.js`, `exports.version = 'one';`);
  write(WORD, `import { version } from 'installed'; export const word: string = version;`);
  const script = rebuilt();
  write(`${installed}/index.js`, `exports.version = 'two';`);
  expect(node(script)).toMatch(/^two /);
});

test('reports modules that cannot be bundled', () => {
  write(WORD, 'export const word: string =');
  expect(bundle).toThrow(/word\.ts/);
});
