import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { difference, pinnedPnpm } from '../scripts/pnpm.mjs';

// bin/pnpm.mjs of node_modules/pnpm
const brought = join(dirname(pinnedPnpm()), '../../.package-lock.json');
const packages = (JSON.parse(readFileSync(brought, 'utf8')) as { packages: Record<string, { integrity: string }> }).packages;

test('the pnpm that npm installs is the pinned one', () => {
  expect(Object.keys(packages)).toContain('node_modules/pnpm');
  expect(difference(packages)).toBeUndefined();
});

test('checks the engines of packages against the Node that the install brings', () => {
  const read = (name: string) => readFileSync(join(import.meta.dirname, '..', name), 'utf8');
  const { optionalDependencies } = JSON.parse(read('package.json')) as { optionalDependencies: Record<string, string> };
  const { nodeVersion } = parse(read('pnpm-workspace.yaml')) as { nodeVersion: string };
  expect(new Set(Object.values(optionalDependencies))).toEqual(new Set([nodeVersion]));
});

test('rejects a pnpm with other content, or with an additional package, by name', () => {
  const other = { ...packages, 'node_modules/pnpm': { integrity: 'sha512-AAAA' } };
  expect(difference(other)).toMatch(/^pnpm has the digest sha512-AAAA instead of sha512-/);
  expect(difference({ ...packages, 'node_modules/left-pad': { integrity: 'sha512-BBBB' } })).toBe('left-pad has the digest sha512-BBBB instead of none');
  expect(difference({ ...packages, 'node_modules/pnpm': {} })).toMatch(/^pnpm has the digest undefined/);
});

/** Fails if another command is at work too. Its arguments are a name by which others know it as a command, and the folder of the locks. */
const COMMAND = `
  import { rmSync, writeFileSync } from 'node:fs';
  import { alone } from ${JSON.stringify(join(import.meta.dirname, '../scripts/install.mjs'))};
  const folder = process.argv.at(-1);
  await alone(() => {
    writeFileSync(folder + '/at-work', '', { flag: 'wx' });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    rmSync(folder + '/at-work');
  }, folder);
`;

test('of commands that find the lock of an ended one at the same time, one works at a time', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'truckroll-locks-'));
  // A program that now has the id of the ended command: finding that out takes each command a while.
  const other = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' });
  try {
    await once(other, 'spawn');
    writeFileSync(join(folder, '.truckroll-lock.1'), String(other.pid));
    const command = () => promisify(execFile)(process.execPath, ['--input-type=module', '-e', COMMAND, 'run.mjs', folder]);
    await Promise.all(Array.from({ length: 5 }, command));
  } finally {
    other.kill();
    rmSync(folder, { recursive: true });
  }
});
