// Profiles: the address and credential of an installation each, in a file that only its owner may read.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { EXIT, Failure } from './terminal/failure.ts';

export interface Profile {
  readonly url: string;
  readonly credential: string;
}

export type Profiles = Readonly<Record<string, Profile>>;
type Environment = Readonly<Record<string, string | undefined>>;

export const DEFAULT_PROFILE = 'default';
/** Permissions of others than the owner. */
const OTHERS = 0o077;
/** A program has the file for a moment, unless it was killed. */
const LEFT_MS = 10_000;
const AGAIN_MS = 20;

function profilesFile({ XDG_CONFIG_HOME: config, HOME: home = homedir() }: Environment): string {
  return join(config || join(home, '.config'), 'truckroll/profiles.json');
}

/** Without a prototype, so that `constructor` is no profile. */
const none = (): Profiles => Object.create(null) as Profiles;

function isProfiles(value: unknown): value is Profiles {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((each: Partial<Profile> | null) => typeof each?.url === 'string' && typeof each.credential === 'string');
}

/** Throws Failure if the file cannot be read, or others may read it. */
export function readProfiles(env: Environment): Profiles {
  const file = profilesFile(env);
  try {
    const text = readFileSync(file, 'utf8');
    // Windows has no such permissions.
    if (process.platform !== 'win32' && (statSync(file).mode & OTHERS) !== 0) {
      throw new Failure(`Others may read ${file}, which has your credentials: run \`chmod 600 ${file}\`, and have the credentials replaced if others did.`);
    }
    const profiles: unknown = JSON.parse(text);
    if (!isProfiles(profiles)) throw new SyntaxError('no profiles');
    return Object.assign(none(), profiles);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return none();
    if (error instanceof SyntaxError) throw new Failure(`${file} is not what \`truckroll login\` writes: delete it, and log in again.`, EXIT.usage, error);
    if (code === undefined) throw error;
    throw new Failure(`${file} cannot be read (${code}): change its permissions, or set XDG_CONFIG_HOME to another folder.`, EXIT.usage, error);
  }
}

/**
 * Replaces the file at once, so that an interrupted program leaves the former one, and while no other program changes it. Resolves to its name.
 * Rejects with Failure, or with what `change` throws.
 */
export async function changeProfiles(env: Environment, change: (profiles: Profiles) => Profiles): Promise<string> {
  const file = profilesFile(env);
  const partial = `${file}.partial`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    await createAlone(partial);
    try {
      writeFileSync(partial, `${JSON.stringify(change(readProfiles(env)), null, 2)}\n`, { mode: 0o600 });
      renameSync(partial, file);
    } catch (error) {
      rmSync(partial, { force: true });
      throw error;
    }
    return file;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new Failure(`${file} cannot be written (${code}): change its folder's permissions, or set XDG_CONFIG_HOME to another folder.`, EXIT.usage, error);
  }
}

/** Waits until no other program works on the file, and creates it. Takes over the file that a killed program has left. */
async function createAlone(file: string): Promise<void> {
  for (;;) {
    try {
      return writeFileSync(file, '', { mode: 0o600, flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const since = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (Date.now() - since > LEFT_MS) rmSync(file, { force: true });
    else await setTimeout(AGAIN_MS);
  }
}
