// Profiles: the address and credential of an installation each, in a file that only its owner may read.
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
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

function profilesFile({ XDG_CONFIG_HOME: config, HOME: home = homedir() }: Environment): string {
  return join(config || join(home, '.config'), 'truckroll/profiles.json');
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
    return JSON.parse(text) as Profiles;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return {};
    if (error instanceof SyntaxError) throw new Failure(`${file} is not JSON: delete it, and log in again.`, EXIT.usage, error);
    if (code === undefined) throw error;
    throw new Failure(`${file} cannot be read (${code}): change its permissions, or set XDG_CONFIG_HOME to another folder.`, EXIT.usage, error);
  }
}

/** Replaces the file at once, so that an interrupted program leaves the former one. Throws Failure. */
export function writeProfiles(env: Environment, profiles: Profiles): string {
  const file = profilesFile(env);
  const partial = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(partial, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
    chmodSync(partial, 0o600);
    renameSync(partial, file);
    return file;
  } catch (error) {
    rmSync(partial, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    throw new Failure(`${file} cannot be written (${code}): change its folder's permissions, or set XDG_CONFIG_HOME to another folder.`, EXIT.usage, error);
  }
}
