// What was released (releases.json at the root), and the code of a release, installed by its own scripts.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Problem, ROOT, STATE, type Say } from '@truckroll/local-stack';

export interface Release {
  /** `1.0.0`. */
  readonly version: string;
  /** `2026-11-22`. */
  readonly date: string;
  /** SHA-1 of what was released: clones that have no tags find it by this. */
  readonly commit: string;
}

/** Oldest first. */
export const releases: readonly Release[] = JSON.parse(readFileSync(join(ROOT, 'releases.json'), 'utf8')) as Release[];

export const lastRelease: Release = releases.at(-1)!;

/** Written when a folder is whole. */
const STAMP = '.installed';
const TOOLS = 'node_modules/.truckroll-pnpm';

/**
 * A folder with a release's code, ready to run; made once for each release. Packages come from pnpm's store where it has them,
 * as it has those that this checkout uses too.
 */
export function installRelease({ version, commit }: Release, say: Say): string {
  const folder = join(STATE, 'releases', `${version}-${commit.slice(0, 12)}`);
  if (existsSync(join(folder, STAMP))) return folder;
  say(`installing release ${version} from ${commit.slice(0, 12)} …`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const archive = `${folder}.tar`;
  try {
    run(
      ['git', 'archive', '--format=tar', `--output=${archive}`, commit],
      ROOT,
      `This clone does not have the commit of release ${version}, ${commit}: git fetch --unshallow, or git fetch origin ${commit}.`,
    );
    run(['tar', '-xf', archive, '-C', folder], ROOT, `The code of release ${version} cannot be unpacked.`);
  } finally {
    rmSync(archive, { force: true });
  }
  // The pinned pnpm of this checkout, if that release has the same: its own scripts hold it against their digests.
  if (existsSync(join(ROOT, TOOLS))) cpSync(join(ROOT, TOOLS), join(folder, TOOLS), { recursive: true, verbatimSymlinks: true });
  run([process.execPath, 'scripts/run.mjs', 'generate'], folder, `Release ${version} cannot be installed.`, { npm_config_prefer_offline: 'true' });
  writeFileSync(join(folder, STAMP), '');
  return folder;
}

function run([command, ...args]: readonly [string, ...string[]], cwd: string, problem: string, environment: Record<string, string> = {}): void {
  const { status, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', env: { ...process.env, ...environment } });
  if (status !== 0) throw new Problem(`${problem} ${(stderr || String(error)).trim().slice(-2000)}`);
}
