import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Problem } from '../problem.ts';
import { run } from '../processes/run.ts';

/** The user for servers that refuse to run as root (PostgreSQL and PgBouncer). */
export interface PostgresUser {
  readonly uid: number;
  readonly gid: number;
  /** A command prefix, needed when the user cannot enter the folders by itself. */
  readonly prefix: readonly string[];
}

const NAME = 'postgres';

/** Undefined unless this process is root. If only root can enter the checkout's folder, the user keeps CAP_DAC_OVERRIDE and no other capability. */
export async function postgresUser(binary: string, folder: string, title = 'PostgreSQL'): Promise<PostgresUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const ids = find() ?? create();
  const probe = ['/bin/sh', '-c', 'cd "$1" && "$2" --version', 'sh', folder, binary];
  const direct = await run(probe[0]!, probe.slice(1), { user: ids });
  if (direct.code === 0) return { ...ids, prefix: [] };
  const prefix = [
    'setpriv',
    `--reuid=${ids.uid}`,
    `--regid=${ids.gid}`,
    '--clear-groups',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
    // Without this, access(2), which initdb calls, ignores the capability.
    '--securebits=+no_setuid_fixup',
    '--',
  ];
  const privileged = await run(prefix[0]!, [...prefix.slice(1), ...probe]);
  if (privileged.code === 0) return { ...ids, prefix };
  throw new Problem(
    `${title} does not run as root, and the user ${NAME} cannot enter ${folder}: move the checkout to a folder that every user can enter, or run as another user.`,
  );
}

function find(): { uid: number; gid: number } | undefined {
  const fields = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find(([name]) => name === NAME);
  return fields && { uid: Number(fields[2]), gid: Number(fields[3]) };
}

function create(): { uid: number; gid: number } {
  try {
    execFileSync('groupadd', ['--system', '--force', NAME], { stdio: 'pipe' });
    execFileSync('useradd', ['--system', '-g', NAME, NAME], { stdio: 'pipe' });
  } catch (error) {
    throw new Problem(`PostgreSQL does not run as root, and no user ${NAME} could be created (${(error as Error).message.trim()}): run as another user.`);
  }
  const ids = find();
  if (!ids) throw new Problem(`PostgreSQL does not run as root and there is no user ${NAME}: run as another user.`);
  return ids;
}
