// Compiles Go tools, once per version of their go.mod, into the user's cache.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * The folder of the programs that `module`/go.mod lists as tools. `name` is the name of the cache; `purpose` completes "… by tools that Go
 * compiles". Throws an error that says what to do.
 */
export function goTools({ module, name, purpose }) {
  const digest = createHash('sha256')
    .update(readFileSync(join(module, 'go.sum')))
    .digest('hex')
    .slice(0, 16);
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), name);
  const folder = join(cache, digest);
  if (existsSync(folder)) return folder;
  if (spawnSync('go', ['version']).status !== 0) throw new Error(`${purpose} by tools that Go compiles: install Go 1.26 or newer.`);
  console.error(`compiling what ${module} names, once for its versions: minutes on a machine that has never done it …`);
  const fresh = join(cache, `${digest}.${process.pid}`);
  mkdirSync(fresh, { recursive: true });
  const env = { ...process.env, GOBIN: fresh, GOFLAGS: '-trimpath -buildvcs=false' };
  const { status } = spawnSync('go', ['install', '-ldflags', '-s -w', 'tool'], { cwd: module, env, stdio: ['ignore', 2, 2] });
  if (status !== 0) {
    rmSync(fresh, { recursive: true });
    throw new Error('The tools could not be compiled, for the reason above.');
  }
  if (existsSync(folder)) rmSync(fresh, { recursive: true });
  else renameSync(fresh, folder);
  return folder;
}
