// Installs the pinned pnpm. Its digest is checked before any of it runs, because pnpm checks all other packages.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** The path of the pinned pnpm, to run with Node; installs it if it is missing. Throws an error that names the difference. */
export function pinnedPnpm() {
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const folder = join(root, 'node_modules/.truckroll-pnpm', packageManager);
  const program = join(folder, 'node_modules/pnpm/bin/pnpm.mjs');
  if (!existsSync(program)) {
    // Without install scripts: nothing may run before it is checked, and pnpm does not need its own scripts.
    const flags = ['--prefix', folder, '--ignore-scripts', '--no-save', '--no-audit', '--no-fund'];
    const { status } = spawnSync('npm', ['install', ...flags, packageManager], { cwd: root, stdio: ['ignore', 2, 2] });
    if (status !== 0) throw new Error(`npm could not bring ${packageManager}, for the reason above: check the network and the disk, and try again.`);
  }
  const differs = difference(JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8')).packages);
  if (differs !== undefined) {
    rmSync(folder, { recursive: true, force: true });
    throw new Error(`${differs}: nothing of it was run. Ask who runs the registry; a new version's digests belong in scripts/pnpm.json.`);
  }
  return program;
}

/** npm has checked each package against the digest recorded here; the recorded digest must be the pinned one. */
export function difference(packages, pinned = JSON.parse(readFileSync(join(import.meta.dirname, 'pnpm.json'), 'utf8'))) {
  for (const [path, { integrity }] of Object.entries(packages)) {
    const name = path.replace(/^.*node_modules\//, '');
    const expected = pinned[name];
    if (expected === undefined && /^@pnpm\/exe\./.test(name)) {
      console.error(`scripts/pnpm.json has no digest of ${name}: it is trusted as npm brings it`);
    } else if (integrity !== expected) {
      return `${name} has the digest ${integrity} instead of ${expected ?? 'none'}`;
    }
  }
  return undefined;
}
