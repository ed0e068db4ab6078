// The releases (releases.json at the root), and a release's code, installed by its own scripts.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Problem, ROOT, STATE, type Say } from '@truckroll/local-stack';
import { checkBundles } from './bundles.ts';

export interface Release {
  readonly version: string;
  readonly date: string;
  /** SHA-1 of the released commit, by which clones without tags find it. */
  readonly commit: string;
  /** SHA-1 of the commit whose deploy/bundle.mjs bundles the release, if the release's own script cannot. */
  readonly bundler?: string;
}

export const releases: readonly Release[] = JSON.parse(readFileSync(join(ROOT, 'releases.json'), 'utf8')) as Release[];

export const lastRelease: Release = releases.at(-1)!;

const STAMP = '.installed';
const TOOLS = 'node_modules/.truckroll-pnpm';
const BUNDLER = 'deploy/bundle.mjs';

const shallow = (version: string, commit: string): string =>
  `This clone does not have the code of release ${version}, ${commit}: git fetch --unshallow, or git fetch origin ${commit}.`;

/** A folder with a release's code, installed once per release. Packages come from pnpm's store where possible. */
export function installRelease({ version, commit }: Release, say: Say): string {
  const folder = join(STATE, 'releases', `${version}-${commit.slice(0, 12)}`);
  if (existsSync(join(folder, STAMP))) return folder;
  say(`installing release ${version} from ${commit.slice(0, 12)} …`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const archive = `${folder}.tar`;
  try {
    run(['git', 'archive', '--format=tar', `--output=${archive}`, commit], ROOT, shallow(version, commit));
    run(['tar', '-xf', archive, '-C', folder], ROOT, `The code of release ${version} cannot be unpacked.`);
  } finally {
    rmSync(archive, { force: true });
  }
  // Reuse this checkout's pinned pnpm if the release pins the same: the release's scripts verify its digest.
  if (existsSync(join(ROOT, TOOLS))) cpSync(join(ROOT, TOOLS), join(folder, TOOLS), { recursive: true, verbatimSymlinks: true });
  run([process.execPath, 'scripts/run.mjs', 'generate'], folder, `Release ${version} cannot be installed.`, { npm_config_prefer_offline: 'true' });
  writeFileSync(join(folder, STAMP), '');
  return folder;
}

/** Bundles and starts every component of an installed release, as deploy/images does. Returns the components' names. */
export function checkImages({ version, bundler }: Release, folder: string): string[] {
  if (bundler !== undefined) writeFileSync(join(folder, BUNDLER), run(['git', 'show', `${bundler}:${BUNDLER}`], ROOT, shallow(version, bundler)));
  return checkBundles(folder);
}

function run([command, ...args]: readonly [string, ...string[]], cwd: string, problem: string, environment: Record<string, string> = {}): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', env: { ...process.env, ...environment } });
  if (status !== 0) throw new Problem(`${problem} ${(stderr || String(error)).trim().slice(-2000)}`);
  return stdout;
}
